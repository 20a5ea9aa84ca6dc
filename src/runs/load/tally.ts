import type { LostTime } from '../../audio/verdict/pace-check.ts';
import type { LoadMetric } from '../../config/threshold.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { FailureKind } from '../../kernel/failure-kind.ts';
import { type Lateness, watchLateness } from '../../kernel/lateness.ts';
import { toMicroseconds } from './histogram.ts';
import { type LoadCounts, type LoadTick, noCounts } from './tick.ts';

/** Lateness is counted in classes of this many microseconds. Values beyond the last class are kept one by one. */
const classUs = 50;
const classes = 10_000;

/** A shorter standstill counts as lateness, which is measured separately. */
const shortestPauseMs = 100;

/** Detects when its own process stood still: it was stopped, or the machine was busy. Times are monotonic milliseconds. */
export class Pauses implements LostTime {
  readonly #clock: Clock;
  readonly #lateness: Lateness;
  #endedAt = Number.NEGATIVE_INFINITY;
  #longestMs = 0;
  #lostMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lateness = watchLateness(clock, (lateMs, stoodMs) => {
      if (stoodMs < shortestPauseMs) return;
      this.#endedAt = clock.now();
      this.#lostMs += lateMs;
      this.#longestMs = Math.max(this.#longestMs, stoodMs);
    });
  }

  look(): number {
    this.#lateness.look();
    return this.#clock.now();
  }

  stop(): void {
    this.#lateness.stop();
  }

  /** How long all pauses were together, so far. */
  get lostMs(): number {
    this.look();
    return this.#lostMs;
  }

  /** Whether any of the time from `since` to now was a pause. */
  isSince(since: number): boolean {
    this.look();
    return since < this.#endedAt;
  }

  /** The longest pause since the last call; 0 if there was none. */
  drainLongestMs(): number {
    this.look();
    const longest = this.#longestMs;
    this.#longestMs = 0;
    return longest;
  }
}

/** What one generator has seen since the last flush. On the path of a frame: only counters, no allocation. */
export class Tally implements LostTime {
  counts: LoadCounts = { ...noCounts };
  opened = 0;
  #finished: LoadTick['finished'] = {};
  #unfinished: LoadTick['unfinished'] = {};
  #failures: LoadTick['failures'] = {};
  readonly #late = new Uint32Array(classes);
  #veryLate: number[] = [];
  #touched: LoadTick['touched'] = {};
  readonly #pauses: Pauses | undefined;

  /** `pauses`: of this process, unless the clock is not the machine's. */
  constructor(pauses?: Pauses) {
    this.#pauses = pauses;
  }

  /** How long this process did not run, so far: then it read nothing. */
  get lostMs(): number {
    return this.#pauses?.lostMs ?? 0;
  }

  /** A frame or an arrival left this many milliseconds after it was due. */
  late(ms: number): void {
    const at = Math.floor((ms * 1000) / classUs);
    if (at < classes) {
      const index = at < 0 ? 0 : at;
      this.#late[index] = (this.#late[index] ?? 0) + 1;
    } else this.#veryLate.push(toMicroseconds(ms));
  }

  /** `since`: when the measured time began, if it does not end now. */
  finished(metric: LoadMetric, ms: number, since?: number): void {
    add(this.#finished, metric, ms);
    this.#touch(metric, ms, since);
  }

  /** Something was refused, broken off or stopped at this age. */
  unfinished(metric: LoadMetric, ms: number): void {
    add(this.#unfinished, metric, ms);
    this.#touch(metric, ms);
  }

  #touch(metric: LoadMetric, ms: number, since?: number): void {
    const pauses = this.#pauses;
    if (pauses?.isSince(since ?? pauses.look() - ms))
      this.#touched[metric] = (this.#touched[metric] ?? 0) + 1;
  }

  failed(kind: FailureKind): void {
    this.counts.failed += 1;
    this.#failures[kind] = (this.#failures[kind] ?? 0) + 1;
  }

  /** Returns what was counted, and starts again from zero. */
  flush(): Omit<LoadTick, 'generator' | 'second' | 'core'> {
    const { counts, opened } = this;
    const seen = {
      counts,
      opened,
      finished: this.#finished,
      unfinished: this.#unfinished,
      failures: this.#failures,
      lateness: this.#lateness(),
      pauseMs: this.#pauses?.drainLongestMs(),
      touched: this.#touched,
    };
    this.counts = { ...noCounts };
    this.opened = 0;
    this.#finished = {};
    this.#unfinished = {};
    this.#failures = {};
    this.#late.fill(0);
    this.#veryLate = [];
    this.#touched = {};
    return seen;
  }

  #lateness(): LoadTick['lateness'] {
    const found: LoadTick['lateness'] = [];
    for (let index = 0; index < classes; index += 1) {
      const count = this.#late[index] ?? 0;
      if (count > 0) found.push([index * classUs + classUs / 2, count]);
    }
    for (const us of this.#veryLate) found.push([us, 1]);
    return found;
  }
}

function add(times: LoadTick['finished'], metric: LoadMetric, ms: number): void {
  const list = times[metric] ?? [];
  times[metric] = list;
  list.push(toMicroseconds(ms));
}
