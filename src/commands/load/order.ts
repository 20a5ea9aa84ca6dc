import type { Arrival } from '../../config/arrival.ts';
import type { LoadTask } from '../../config/load-tasks.ts';
import type { Origin } from '../../config/settings.ts';
import { isLoopback, type Target } from '../../config/target.ts';
import { parseThreshold, type Threshold } from '../../config/threshold.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { allArrive, type LoadOrder } from '../../runs/load/plan.ts';
import { taskMetrics } from '../../runs/load/tasks.ts';
import type { Cleanness } from '../../session/expectations.ts';
import type { ContextOf } from '../command.ts';

const defaultArrival: Arrival = { kind: 'constant', perSecond: 10 };
/** Duration of a session without --hold. */
const defaultHoldMs = { talk: 0, 'barge-in': 0, listen: 10_000, storm: 1_000, tokens: 0 } as const;

/** Tasks in which replies are heard to their end. */
const judgedTasks: ReadonlySet<string> = new Set(['talk', 'barge-in', 'listen']);

type Given = Pick<ContextOf<'load'>, 'settings' | 'origin'>;

/**
 * What the settings ask for. Throws `usage` for flags that exclude each other. What is not of the command line may be
 * meant for another task, and is left out.
 */
export function readOrder(
  { settings, origin }: Given,
  { clipMs, startAt }: { clipMs: number; startAt: number },
): LoadOrder {
  const { sessions, task, hold, giveUp, wait, settle, deviceCount, loadSeed, expectClean } = settings;
  const isJudged = judgedTasks.has(task);
  if (expectClean !== undefined && !isJudged && origin('expectClean') === 'flag')
    throw new VoicectlError(
      'usage',
      `--expect-clean needs --task ${[...judgedTasks].join(' or ')}: ${task} hears no complete reply`,
    );
  const { arrival, rampUpMs } = readArrival({ settings, origin });
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
    clean: isJudged ? expectClean : undefined,
    devices: deviceCount,
  };
}

/** The given thresholds for a run of `task`. One of a config file on what this task does not measure is for other tasks. */
export function thresholdsFor(
  task: LoadTask,
  given: readonly Threshold[],
  origin: Origin | undefined,
): readonly Threshold[] {
  const isFor = ({ metric }: Threshold) =>
    metric === 'failed' ||
    (metric === 'unclean' ? judgedTasks.has(task) : taskMetrics[task].includes(metric));
  return origin === 'flag' ? given : given.filter(isFor);
}

/**
 * The thresholds of a run. With --expect-clean no session may be unclean, unless an `unclean` threshold is given. Throws
 * `usage` for an `unclean` threshold without --expect-clean.
 */
export function thresholdsOf(
  given: readonly Threshold[],
  clean: Cleanness | undefined,
): readonly Threshold[] {
  const unclean = given.find(({ metric }) => metric === 'unclean');
  if (unclean !== undefined && clean === undefined)
    throw new VoicectlError('usage', `"${unclean.text}" needs a run with --expect-clean`);
  return clean === undefined || unclean !== undefined ? given : [...given, parseThreshold('unclean<=0')];
}

/** The thresholds of a run that is started, and those of them that end it. Throws `usage`, like `thresholdsOf`. */
export function readThresholds(
  { settings, origin }: Given,
  { task, clean }: LoadOrder,
): Record<'thresholds' | 'abortOn', readonly Threshold[]> {
  const threshold = thresholdsFor(task, settings.threshold, origin('threshold'));
  const abortOn = thresholdsFor(task, settings.abortOn, origin('abortOn'));
  return { thresholds: thresholdsOf([...threshold, ...abortOn], clean), abortOn };
}

function readArrival({
  settings: { arrival, rampUp, sessions },
  origin,
}: Given): Pick<LoadOrder, 'arrival' | 'rampUpMs'> {
  const isBurst = arrival?.kind === 'burst';
  if (isBurst && rampUp !== undefined && origin('rampUp') === 'flag') {
    throw new VoicectlError('usage', '--ramp-up cannot be combined with --arrival burst, which has no rate');
  }
  // A ramp-up of a config file may be meant for another arrival than that of the command line.
  const isForOthers =
    arrival !== undefined &&
    origin('arrival') === 'flag' &&
    origin('rampUp') !== 'flag' &&
    !allArrive(arrival, { sessions, rampUpMs: rampUp });
  const rampUpMs = isBurst || isForOthers ? undefined : rampUp;
  if (arrival !== undefined) return { arrival, rampUpMs };
  if (rampUpMs === undefined || rampUpMs === 0) return { arrival: defaultArrival, rampUpMs: undefined };
  // Without a rate to rise to, the sessions are spread evenly.
  return { arrival: { kind: 'constant', perSecond: (sessions * 1000) / rampUpMs }, rampUpMs: undefined };
}

/** Throws `usage` for a host beyond this machine that the user has not confirmed. */
export function requireConfirmed(
  { baseUrl, wsUrl }: Target,
  { confirm }: ContextOf<'load'>['settings'],
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
