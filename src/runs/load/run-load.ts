import type { Threshold } from '../../config/threshold.ts';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { generate, type LoadJob, type LoadReporting } from './generate.ts';
import { createTotals, type Generator, type LoadFacts, type ResultParts, type Totals } from './result.ts';
import { abortText, isCrossed } from './thresholds.ts';

/** The state of the run, once a second. */
export interface LoadProgress {
  second: number;
  totals: Totals;
  /** Highest share of a core among the generators in the last second; undefined if it was not measured. */
  core: number | undefined;
}

export interface RunLoadOptions {
  facts: LoadFacts;
  shard: { number: number; of: number };
  /** Ends the run early; the result covers what was done. */
  signal: AbortSignal;
  abortOn: readonly Threshold[];
  crew: LoadCrew;
  onProgress(progress: LoadProgress): void;
  onNotice(text: string): void;
}

/** Maximum number of messages of failures that are shown, so that one cause does not flood the screen. */
const mostNotices = 10;
/** With fewer values a statistic is not enough to abort a run. */
const fewestToAbort = 20;

/** Runs the generators and adds up what they see. The result includes lost generators and an early end. */
export async function runLoad(options: RunLoadOptions): Promise<ResultParts> {
  const { facts, shard, signal, abortOn, crew, onProgress, onNotice } = options;
  const totals = createTotals();
  const reported = new Set<string>();
  const cores = new Map<number, number[]>();
  const pauses = new Map<number, number>();
  const lost = new Map<number, string>();
  const stopping = new AbortController();
  const reports = new Map<number, number>();
  let stopped: string | null = null;
  let shown = -1;

  const stop = (why: string) => {
    stopped ??= why;
    stopping.abort(new VoicectlError('interrupted', why));
  };
  const onAbort = () => stop((signal.reason as Error).message);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();

  try {
    await crew.run(facts.startAt, stopping.signal, {
      onTick(tick) {
        totals.add(tick);
        if (tick.core !== undefined)
          cores.set(tick.generator, [...(cores.get(tick.generator) ?? []), tick.core]);
        if (tick.pauseMs !== undefined)
          pauses.set(tick.generator, Math.max(pauses.get(tick.generator) ?? 0, tick.pauseMs));
        reports.set(tick.second, (reports.get(tick.second) ?? 0) + 1);
        // A second is shown when all generators have reported it, or when one is already ahead.
        const isWhole = (reports.get(tick.second) ?? 0) >= crew.size - lost.size;
        const second = isWhole ? tick.second : tick.second - 1;
        if (second <= shown) return;
        while (shown < second) {
          shown += 1;
          onProgress({ second: shown, totals, core: latestCore(cores) });
        }
        const crossed = abortOn.find((one) => hasEnough(one, totals) && isCrossed(one, totals));
        if (crossed !== undefined) stop(abortText(crossed));
      },
      onFailure(message) {
        if (reported.size >= mostNotices || reported.has(message)) return;
        reported.add(message);
        onNotice(message);
      },
      onLost(generator, why) {
        lost.set(generator, why);
        onNotice(`Generator ${generator + 1} was lost: ${why}`);
      },
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  const generators = Array.from(
    { length: crew.size },
    (_, index): Generator => ({
      name: `${shard.number}/${shard.of}.${index + 1}`,
      core: highestShare(cores.get(index) ?? []),
      longestPauseMs: pauses.has(index) ? Math.round(pauses.get(index) ?? 0) : null,
      lost: lost.get(index) ?? null,
    }),
  );
  return { totals, facts, shards: { has: [shard.number], of: shard.of }, generators, stopped };
}

function hasEnough(threshold: Threshold, { counts, metrics }: Totals): boolean {
  if (threshold.metric === 'failed' || threshold.metric === 'unclean')
    return threshold.statistic === 'count' || counts.arrived >= fewestToAbort;
  const times = metrics.get(threshold.metric);
  return times !== undefined && times.finished.count + times.unfinished.count >= fewestToAbort;
}

function latestCore(cores: ReadonlyMap<number, readonly number[]>): number | undefined {
  const latest = [...cores.values()].flatMap((shares) => shares.at(-1) ?? []);
  return latest.length === 0 ? undefined : Math.max(...latest);
}

/** Seconds over which a generator's share of its core is averaged. */
const windowSeconds = 10;

/** The highest mean share of a core over ten seconds, or over the whole run if that is shorter. */
export function highestShare(shares: readonly number[]): number | null {
  if (shares.length === 0) return null;
  const window = Math.min(windowSeconds, shares.length);
  let sum = shares.slice(0, window).reduce((total, share) => total + share, 0);
  let most = sum;
  for (let end = window; end < shares.length; end += 1) {
    sum += (shares[end] ?? 0) - (shares[end - window] ?? 0);
    most = Math.max(most, sum);
  }
  return most / window;
}

export interface LoadCrewHandlers extends Pick<LoadReporting, 'onTick' | 'onFailure'> {
  /** A generator ended before its work was done. */
  onLost(generator: number, why: string): void;
}

/** What all generators of a run share on this machine. */
export type CrewJob = Omit<LoadJob, 'generator' | 'startAt'>;

/** The generators of a run on this machine, ready to start. */
export interface LoadCrew {
  readonly size: number;
  /** Runs from `startAt` (milliseconds since the epoch) until all have ended or are lost. The signal ends it early. */
  run(startAt: number, signal: AbortSignal, handlers: LoadCrewHandlers): Promise<void>;
  /** Ends the remaining processes. */
  close(): void;
}

/** One generator in this process. */
export function createOwnCrew(job: CrewJob, clock: Clock): LoadCrew {
  return {
    size: 1,
    run: (startAt, signal, handlers) =>
      generate({ ...job, generator: 0, startAt }, { clock, signal, ...handlers }),
    close() {},
  };
}
