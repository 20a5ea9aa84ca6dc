import { VoicectlError } from '../kernel/errors.ts';
import { concealUrl } from '../kernel/secret-fields.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { isLoopbackHost, isSafeTransport } from '../protocol/loopback.ts';
import { checkDialect, prepareTls } from '../service/settings.ts';
import { certificateNames, type TlsCertificate } from '../wire/server/certificate.ts';
import type { ProxyOptions } from './options.ts';

/** The options with their defaults. */
export interface SettledProxy {
  host: string;
  port: number;
  allowHosts: readonly string[];
  allowOrigins: readonly string[];
  dialect: Dialect;
  /** Whether remarks are violations. */
  isStrict: boolean;
  answerMs: number;
  tls: TlsCertificate | undefined;
}

const answerMs = 10_000;

/**
 * Checks the options. Throws `host-exposed` for a listener beyond this machine without TLS, `insecure-target` for a target
 * beyond it without TLS, `bad-dialect`, `bad-input`.
 */
export async function settleProxy(options: ProxyOptions): Promise<SettledProxy> {
  const {
    host = '127.0.0.1',
    port = 0,
    allowHosts = [],
    allowOrigins = [],
    allowPlaintext = false,
  } = options;
  const isPlain = options.tls === undefined || options.tls === false;
  if (!isLoopbackHost(host) && isPlain && !allowPlaintext)
    throw new VoicectlError(
      'host-exposed',
      `Refusing to listen on ${host} in the clear: keys and tokens pass`,
      {
        hint: 'Use --tls, or --allow-plaintext if the network is trusted.',
      },
    );
  for (const url of [options.target.baseUrl, options.target.wsUrl]) {
    if (!allowPlaintext && !isSafeTransport(url))
      throw new VoicectlError(
        'insecure-target',
        `Refusing to pass keys and tokens on to ${concealUrl(url)} in the clear`,
        {
          hint: 'Use https and wss, or --allow-plaintext if the network is trusted.',
        },
      );
  }
  return {
    ...{ host, port, allowHosts, allowOrigins },
    dialect: checkDialect(options.dialect),
    isStrict: options.dialect !== undefined,
    answerMs: options.answerMs ?? answerMs,
    tls: await prepareTls(options.tls, () => certificateNames(host, allowHosts)),
  };
}
