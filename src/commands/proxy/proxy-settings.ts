import { readTrusted, requireSafeTransport } from '../../config/target.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { countText } from '../../protocol/count-text.ts';
import { wsUrlFor } from '../../protocol/paths.ts';
import type { JudgementCounts } from '../../proxy/judge.ts';
import type { ProxyOptions } from '../../proxy/options.ts';
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
  context: Pick<CommandContext<ProxySetting>, 'settings' | 'io' | 'stdin' | 'signal'>,
): Promise<ProxyOptions> {
  const { settings, io } = context;
  const { target: baseUrl, targetWs, dialect, fault, network } = settings;
  if (baseUrl === undefined) throw new VoicectlError('usage', 'No service: set it with --target URL');
  const wsUrl = targetWs ?? wsUrlFor(baseUrl);
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
