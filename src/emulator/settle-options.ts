import { VoicectlError } from '../kernel/errors.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { connectionsPerDevice, tokenRequestsPerWindow } from '../protocol/rate-limit.ts';
import { checkDialect, prepareTls } from '../service/settings.ts';
import { certificateNames, type TlsCertificate } from '../wire/server/certificate.ts';
import { checkEmulatorOptions } from './check-options.ts';
import type { EmulatorOptions } from './options.ts';
import { guardReply } from './replies/guard.ts';
import { createReplyMode } from './replies/registry.ts';
import type { ReplyMode } from './replies/reply.ts';
import type { Scenario } from './scenario/scenario.ts';

/** The options with their defaults, and with their files read. */
export interface SettledOptions {
  host: string;
  port: number;
  acceptKeys: readonly string[];
  allowHosts: readonly string[];
  allowOrigins: readonly string[];
  rateLimit: number;
  maxConnections: number;
  dialect: Dialect;
  reply: ReplyMode;
  scenario: Scenario | undefined;
  tls: TlsCertificate | undefined;
}

/**
 * Checks the options and reads the files they name. Throws `usage` for an unknown option or a wrong value,
 * `bad-dialect`, `bad-input` for an unusable file, and `host-exposed`.
 */
export async function settleOptions(options: EmulatorOptions): Promise<SettledOptions> {
  checkEmulatorOptions(options);
  const { host = '127.0.0.1', port = 0, acceptKeys = [], allowHosts = [], allowOrigins = [] } = options;
  if (!isLoopbackHost(host) && acceptKeys.length === 0) {
    throw new VoicectlError('host-exposed', `Refusing to listen on ${host} with any API key accepted`, {
      hint: 'Give the keys to accept with --accept-key or --accept-key-file.',
    });
  }
  return {
    ...{ host, port, acceptKeys, allowHosts, allowOrigins },
    rateLimit: options.rateLimit ?? tokenRequestsPerWindow,
    maxConnections: options.maxConnections ?? connectionsPerDevice,
    dialect: checkDialect(options.dialect),
    reply: await settleReply(options),
    scenario: await settleScenario(options.scenario),
    tls: await prepareTls(options.tls, () => certificateNames(host, allowHosts)),
  };
}

async function settleReply({ reply = 'parrot', replaySpeed }: EmulatorOptions): Promise<ReplyMode> {
  if (typeof reply === 'string') return createReplyMode(reply, { replaySpeed });
  const createReply = typeof reply === 'function' ? reply : reply.createReply;
  return (voice) => guardReply(createReply, voice);
}

async function settleScenario(scenario: EmulatorOptions['scenario']): Promise<Scenario | undefined> {
  if (scenario === undefined) return undefined;
  if (typeof scenario === 'string') {
    const { readScenario } = await import('./scenario/read-scenario.ts');
    return readScenario(scenario);
  }
  if ('replyModeFor' in scenario) return scenario;
  const { loadScenario } = await import('./scenario/scenario.ts');
  return loadScenario(scenario);
}
