import { secondsText } from '../../protocol/time-text.ts';

/** How a device spreads its attempts while they fail. Times are milliseconds. */

/** This many attempts within this time are a storm, whatever follows. */
const stormAttempts = 7;
const stormMs = 10_000;
/** Attempts that stay this far apart need not spread further, and a stream that lasted this long is no failure. */
export const restfulMs = 10_000;
/** The later waits are longer than the earlier ones by this factor: less than two, because of jitter. */
const leastGrowth = 1.3;
/** And by this much: a busy machine delays single attempts. */
const leastGrowthMs = 80;
/** Fewer waits do not show growth. */
const leastWaits = 3;

/** The first storm among attempts at these times, for so many streams: how many within how long. */
export function findStorm(
  times: readonly number[],
  streams = 1,
): { attempts: number; ms: number } | undefined {
  const attempts = stormAttempts * streams;
  for (const [index, first] of times.entries()) {
    const last = times[index + attempts - 1];
    if (last !== undefined && last - first <= stormMs) return { attempts, ms: last - first };
  }
  return undefined;
}

/** Whether the waits between attempts grow; undefined if there are too few to tell. */
export function growsApart(times: readonly number[]): boolean | undefined {
  const waits = waitsBetween(times);
  if (waits.length < leastWaits) return undefined;
  const half = Math.floor(waits.length / 2);
  const [early, late] = [mean(waits.slice(0, half)), mean(waits.slice(half))];
  return late >= restfulMs || late >= Math.max(leastGrowth * early, early + leastGrowthMs);
}

function waitsBetween(times: readonly number[]): number[] {
  return times.slice(1).map((at, index) => at - (times[index] ?? at));
}

/** Splits failures where one has nothing to do with the one before it: a device begins again with a short wait. */
export function splitRuns<Failure>(
  failures: readonly Failure[],
  isAfresh: (failure: Failure, before: Failure) => boolean,
): [first: Failure, ...Failure[]][] {
  const runs: [first: Failure, ...Failure[]][] = [];
  for (const failure of failures) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    if (run === undefined || before === undefined || isAfresh(failure, before)) runs.push([failure]);
    else run.push(failure);
  }
  return runs;
}

/** The waits for people: `0.5 s, 1.1 s, 2.0 s`. */
export function waitsText(times: readonly number[]): string {
  return waitsBetween(times)
    .map((ms) => secondsText(ms, 1))
    .join(', ');
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
