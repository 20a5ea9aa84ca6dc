import type { LoadMetric } from '../../config/threshold.ts';
import type { FailureKind } from '../../kernel/failure-kind.ts';

/** Counts that add up, over time and over generators. */
export interface LoadCounts {
  /** Sessions that have arrived. */
  arrived: number;
  /** Sessions whose stream was confirmed; for `tokens`, that got one. */
  confirmed: number;
  /** Sessions that have ended as planned. */
  done: number;
  failed: number;
  /** Sessions that were stopped before their end. */
  stopped: number;
  /** Arrivals that this machine could not start. */
  dropped: number;
  turns: number;
  replies: number;
  framesOut: number;
  /** Frames that were not sent because the service did not read. */
  framesHeld: number;
  /** Frames that were not sent because this machine stood still when they were due. */
  framesMissed: number;
  messagesIn: number;
  bytesIn: number;
}

/** What one generator has seen during one second. */
export interface LoadTick {
  /** Which generator, from 0. */
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
  /** How late frames and arrivals left: microseconds, and how often. */
  lateness: (readonly [us: number, count: number])[];
  /** Share of its core that the generator used, from 0 to 1; undefined if time is not that of the machine. */
  core: number | undefined;
  /** The longest time for which the generator stood still, in milliseconds; undefined as `core`. */
  pauseMs: number | undefined;
  /** How many times of a metric have a pause of the generator in them. */
  touched: Partial<Record<LoadMetric, number>>;
}

export const noCounts: LoadCounts = {
  arrived: 0,
  confirmed: 0,
  done: 0,
  failed: 0,
  stopped: 0,
  dropped: 0,
  turns: 0,
  replies: 0,
  framesOut: 0,
  framesHeld: 0,
  framesMissed: 0,
  messagesIn: 0,
  bytesIn: 0,
};

const countNames = Object.keys(noCounts) as (keyof LoadCounts)[];

export function addCounts(to: LoadCounts, more: LoadCounts): void {
  for (const name of countNames) to[name] += more[name];
}
