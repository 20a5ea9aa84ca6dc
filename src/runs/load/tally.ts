import type { LoadMetric } from '../../config/threshold.ts';
import type { FailureKind } from '../../kernel/failure-kind.ts';
import { toMicroseconds } from './histogram.ts';
import { type LoadCounts, type LoadTick, noCounts } from './tick.ts';

/** Lateness is counted in classes of this many microseconds; what is later than the last class is kept one by one. */
const classUs = 50;
const classes = 10_000;

/** What one generator has seen since the last flush. On the path of a frame: counters, and no allocation. */
export class Tally {
  counts: LoadCounts = { ...noCounts };
  opened = 0;
  #finished: LoadTick['finished'] = {};
  #unfinished: LoadTick['unfinished'] = {};
  #failures: LoadTick['failures'] = {};
  readonly #late = new Uint32Array(classes);
  #veryLate: number[] = [];

  /** A frame or an arrival left this many milliseconds after it was due. */
  late(ms: number): void {
    const at = Math.floor((ms * 1000) / classUs);
    if (at < classes) {
      const index = at < 0 ? 0 : at;
      this.#late[index] = (this.#late[index] ?? 0) + 1;
    } else this.#veryLate.push(toMicroseconds(ms));
  }

  finished(metric: LoadMetric, ms: number): void {
    add(this.#finished, metric, ms);
  }

  /** It was refused, broken off or stopped at this age. */
  unfinished(metric: LoadMetric, ms: number): void {
    add(this.#unfinished, metric, ms);
  }

  failed(kind: FailureKind): void {
    this.counts.failed += 1;
    this.#failures[kind] = (this.#failures[kind] ?? 0) + 1;
  }

  /** What was counted, and starts again from nothing. */
  flush(): Omit<LoadTick, 'generator' | 'second' | 'core'> {
    const { counts, opened } = this;
    const seen = {
      counts,
      opened,
      finished: this.#finished,
      unfinished: this.#unfinished,
      failures: this.#failures,
      lateness: this.#lateness(),
    };
    this.counts = { ...noCounts };
    this.opened = 0;
    this.#finished = {};
    this.#unfinished = {};
    this.#failures = {};
    this.#late.fill(0);
    this.#veryLate = [];
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
