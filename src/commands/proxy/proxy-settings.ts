import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { givenTargetWs, readTrusted, requireSafeTransport } from '../../config/target.ts';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { abortable, withDeadline } from '../../kernel/promises.ts';
import { countText } from '../../protocol/count-text.ts';
import { wsUrlFor } from '../../protocol/paths.ts';
import type { JudgementCounts } from '../../proxy/judge.ts';
import type { ProxyOptions, ProxyTarget } from '../../proxy/options.ts';
import { endpointOf } from '../../wire/addresses.ts';
import { connectionError } from '../../wire/client/connection-error.ts';
import type { CommandContext } from '../command.ts';
import { loadDialect } from '../service/emulator-settings.ts';

/** The settings of a proxy that have nothing to do with where it listens. */
type ProxySetting =
  | 'target'
  | 'targetWs'
  | 'ca'
  | 'targetTimeout'
  | 'proxyPlaintext'
  | 'proxyRecord'
  | 'dialect'
  | 'fault'
  | 'network'
  | 'seed';

/**
 * The options of a proxy from the flags of `proxy` and `exec`. Reads the files that they name. Throws `usage` without a target,
 * `insecure-target`.
 */
export async function readProxySettings(
  context: Pick<CommandContext<ProxySetting>, 'settings' | 'origin' | 'io' | 'stdin' | 'signal'>,
): Promise<ProxyOptions> {
  const { settings, io } = context;
  const { target: baseUrl, dialect, fault, network } = settings;
  if (baseUrl === undefined) throw new VoicectlError('usage', 'No service: set it with --target URL');
  const wsUrl = givenTargetWs(context) ?? wsUrlFor(baseUrl);
  if (settings.proxyPlaintext !== true) [baseUrl, wsUrl].forEach(requireSafeTransport);
  return {
    clock: io.clock,
    target: { baseUrl, wsUrl, ca: await readTrusted(settings.ca, context) },
    allowPlaintext: settings.proxyPlaintext === true,
    answerMs: settings.targetTimeout,
    record: settings.proxyRecord,
    faults: network === undefined ? fault : [...fault, network],
    seed: settings.seed,
    dialect: dialect === undefined ? undefined : await loadDialect(dialect, context),
  };
}

/** Throws `expectation-failed` if a side broke what `--fail-on` names. */
export function requireLawful(
  { violations, remarks }: JudgementCounts,
  failOn: 'violation' | 'remark' | undefined,
): void {
  const found = failOn === 'remark' ? violations + remarks : violations;
  if (failOn === undefined || found === 0) return;
  const counts = [
    countText(violations, 'violation'),
    ...(failOn === 'remark' ? [countText(remarks, 'remark')] : []),
  ];
  throw new VoicectlError('expectation-failed', `Found ${counts.join(' and ')} (--fail-on ${failOn})`, {
    details: { kind: 'violation' },
  });
}

const reachMs = 10_000;

interface Reach {
  clock: Clock;
  signal: AbortSignal;
}

/** Reaches both addresses of a target. Throws what `reach` throws. */
export async function reachTarget({ baseUrl, wsUrl, ca }: ProxyTarget, how: Reach): Promise<void> {
  // One port as a rule, with two schemes.
  const places = new Map([baseUrl, wsUrl].map((url) => [url.replace(/^ws/, 'http'), url]));
  for (const url of places.values()) await reach(url, { ca, ...how });
}

/**
 * Opens a connection to a service, with TLS where its address asks for it, and closes it: nothing is sent. Throws
 * `connect-failed`, `tls-failed`, `timed-out`, or the signal's reason.
 */
async function reach(url: string, { ca, clock, signal }: Reach & { ca: string | undefined }): Promise<void> {
  signal.throwIfAborted();
  const { host } = new URL(url);
  const { isTls, servername, ...address } = endpointOf(url);
  const socket = isTls ? connectTls({ ...address, servername, ca }) : connectTcp(address);
  const reached = new Promise<void>((resolve, reject) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => resolve());
    socket.once('error', (thrown) => reject(connectionError(thrown, host)));
  });
  try {
    await withDeadline(abortable(reached, signal), {
      clock,
      ms: reachMs,
      what: `${host} could not be reached`,
    });
  } finally {
    socket.on('error', () => {}).destroy();
  }
}
