import type { Arrival } from '../../config/arrival.ts';
import type { OptionOf } from '../../config/options.ts';
import { isLoopback, type Target } from '../../config/target.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { LoadOrder } from '../../runs/load/plan.ts';
import type { CommandContext } from '../command.ts';

export type LoadCommandContext = CommandContext<OptionOf<'load'>>;

const defaultArrival: Arrival = { kind: 'constant', perSecond: 10 };
/** How long a session goes on without --hold. */
const defaultHoldMs = { talk: 0, 'barge-in': 0, listen: 10_000, storm: 1_000, tokens: 0 } as const;

/** What the flags ask for. Throws `usage` for flags that exclude each other. */
export function readOrder(
  { settings }: Pick<LoadCommandContext, 'settings'>,
  { clipMs, startAt }: { clipMs: number; startAt: number },
): LoadOrder {
  const { sessions, rampUp, task, hold, giveUp, wait, settle, deviceCount, loadSeed } = settings;
  const { arrival, rampUpMs } = readArrival(settings.arrival, rampUp, sessions);
  return {
    sessions,
    arrival,
    rampUpMs,
    // All shards start at the same time, so they draw the same numbers.
    seed: loadSeed ?? startAt,
    task,
    times: {
      giveUpMs: giveUp,
      holdMs: hold ?? defaultHoldMs[task],
      clipMs,
      waitMs: wait,
      settleMs: settle,
    },
    devices: deviceCount,
  };
}

function readArrival(
  arrival: Arrival | undefined,
  rampUpMs: number | undefined,
  sessions: number,
): Pick<LoadOrder, 'arrival' | 'rampUpMs'> {
  if (arrival?.kind === 'burst' && rampUpMs !== undefined) {
    throw new VoicectlError('usage', '--ramp-up cannot be combined with --arrival burst, which has no rate');
  }
  if (arrival !== undefined) return { arrival, rampUpMs };
  if (rampUpMs === undefined || rampUpMs === 0) return { arrival: defaultArrival, rampUpMs: undefined };
  // Without a rate to rise to, the sessions are spread evenly.
  return { arrival: { kind: 'constant', perSecond: (sessions * 1000) / rampUpMs }, rampUpMs: undefined };
}

/** Throws `usage` for a host beyond this machine that the user has not confirmed. */
export function requireConfirmed(
  { baseUrl, wsUrl }: Target,
  { confirm }: LoadCommandContext['settings'],
): void {
  const confirmed = confirm.map((host) => host.toLowerCase());
  const other = [baseUrl, wsUrl]
    .filter((url) => !isLoopback(url))
    .map((url) => new URL(url))
    .find(({ host, hostname }) => !confirmed.includes(host) && !confirmed.includes(hostname));
  if (other === undefined) return;
  throw new VoicectlError('usage', `Load on ${other.hostname} needs --confirm ${other.hostname}`, {
    hint: 'Others may be using it. The plan above shows what the run costs.',
  });
}
