import type { LoadMetric } from '../../config/threshold.ts';
import type { FailureKind } from '../../kernel/failure-kind.ts';

/** Counts that are added up over time and over generators. */
export type LoadCounts = typeof noCounts;

export const noCounts = {
  /** Sessions that have arrived. */
  arrived: 0,
  /** Sessions whose stream was confirmed; for `tokens`, sessions that got a token. */
  confirmed: 0,
  /** Sessions that ended as planned. */
  done: 0,
  failed: 0,
  /** Sessions that were stopped before their end. */
  stopped: 0,
  /** Arrivals that this machine could not start. */
  dropped: 0,
  turns: 0,
  replies: 0,
  framesOut: 0,
  /** Frames that were not sent because the service did not read. */
  framesHeld: 0,
  /** Frames that were not sent because this machine stood still when they were due. */
  framesMissed: 0,
  messagesIn: 0,
  bytesIn: 0,
};
const countNames = Object.keys(noCounts) as (keyof LoadCounts)[];

export function addCounts(to: LoadCounts, more: LoadCounts): void {
  for (const name of countNames) to[name] += more[name];
}

/** What one generator has seen during one second. */
export interface LoadTick {
  /** From 0. */
  generator: number;
  /** From the start of the run; 0 is the first second. */
  second: number;
  counts: LoadCounts;
  /** Change of the number of open sessions. */
  opened: number;
  /** Microseconds, by metric. */
  finished: Partial<Record<LoadMetric, number[]>>;
  /** Ages of what was refused, broken off or stopped: a lower bound of the time. */
  unfinished: Partial<Record<LoadMetric, number[]>>;
  failures: Partial<Record<FailureKind, number>>;
  /** How late frames were sent and sessions started: microseconds, and how often. */
  lateness: (readonly [us: number, count: number])[];
  /** Share of a core that the generator used, from 0 to 1; undefined with a clock other than the machine's. */
  core: number | undefined;
  /** The longest time for which the generator stood still, in milliseconds; undefined like `core`. */
  pauseMs: number | undefined;
  /** How many times of each metric include a pause of the generator. */
  touched: Partial<Record<LoadMetric, number>>;
}
