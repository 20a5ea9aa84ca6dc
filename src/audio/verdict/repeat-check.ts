import { meanSquareDb } from './voice-level.ts';

/** In samples: 20 ms to half a second. Audio that repeats more than twice is a tone, or hum. */
const shortest = 320;
const longest = 8_000;
/** A peak is the highest sample within this distance. */
const peakRange = 24;
/** Steps between neighbours relative to the samples. Mains hum, which repeats exactly, has a tenth of speech's. */
const leastSteps = 0.004;
const compared = 8;
const slots = 1_024;
const mostPending = 8;

export interface Repeat {
  /** Where the second copy begins, and its length. */
  at: number;
  length: number;
  /** Its level. */
  dbov: number;
  /** Whether the sound itself may be periodic: a steady vowel, a tone, hum. */
  isSteady: boolean;
}

/**
 * Finds speech that is sent twice in a row within a reply, sample for sample. Peaks are remembered by the samples around
 * them, so the distance of a repeat need not be known.
 */
export class RepeatCheck {
  /** The place of the newest peak with each hash, plus 1. */
  private readonly places = new Float64Array(slots);
  /** Second peaks and their distances, until enough audio has followed. */
  private readonly pending = new Float64Array(2 * mostPending);
  private count = 0;
  private reportedUntil = 0;
  private separatedAt = 0;

  /** The audio before this place may be said again: a reply has ended, or was interrupted. */
  separate(at: number): void {
    this.places.fill(0);
    this.separatedAt = at;
  }

  /**
   * Looks for a peak in `[from, to)`. `base`: the place of `samples[0]`; `end`: the end of the known samples. Returns a
   * complete repeat.
   */
  push(samples: Int16Array, { from, to, end, base }: Stretch): Repeat | undefined {
    this.remember(samples, from, to, base);
    for (let index = 0; index < this.count; index += 1) {
      const second = (this.pending[2 * index] as number) - base;
      const lag = this.pending[2 * index + 1] as number;
      if (second + 2 * lag > end) continue;
      this.count -= 1;
      this.pending[2 * index] = this.pending[2 * this.count] as number;
      this.pending[2 * index + 1] = this.pending[2 * this.count + 1] as number;
      // Nothing is pushed while nobody speaks, so the first copy may be gone.
      if (second - lag < 1) continue;
      return this.verify(samples, { second, lag, end, base });
    }
    return undefined;
  }

  private remember(samples: Int16Array, from: number, to: number, base: number): void {
    for (let at = from; at < to; at += 1) if (isPeak(samples, at)) this.rememberPeak(samples, at, base);
  }

  private rememberPeak(samples: Int16Array, peak: number, base: number): void {
    let hash = 0;
    for (let at = peak - compared / 2; at < peak + compared / 2; at += 1)
      hash = Math.imul(hash ^ (samples[at] as number), 0x01000193) >>> 0;
    const slot = (hash ^ (hash >>> 15)) % slots;
    const lag = base + peak + 1 - (this.places[slot] as number);
    this.places[slot] = base + peak + 1;
    if (lag < shortest || lag > longest || peak - lag < compared || this.isPending(lag)) return;
    // The last peaks before a separation are found after it.
    const second = base + peak;
    if (second >= this.separatedAt && second - lag < this.separatedAt) return;
    for (let at = peak - compared / 2; at < peak + compared / 2; at += 1)
      if (samples[at] !== samples[at - lag]) return;
    this.pending[2 * this.count] = second;
    this.pending[2 * this.count + 1] = lag;
    this.count += 1;
  }

  /** Whether this distance is already being examined, or there are too many others. */
  private isPending(lag: number): boolean {
    for (let index = 0; index < this.count; index += 1) if (this.pending[2 * index + 1] === lag) return true;
    return this.count === mostPending;
  }

  private verify(
    samples: Int16Array,
    { second, lag, end, base }: { second: number; lag: number; end: number; base: number },
  ): Repeat | undefined {
    // Audio that is the same for longer repeats more than twice.
    const earliest = Math.max(lag, second - 2 * lag);
    let from = second;
    while (from > earliest && samples[from - 1] === samples[from - 1 - lag]) from -= 1;
    const latest = Math.min(end, from + 2 * lag);
    let to = second;
    while (to < latest && samples[to] === samples[to - lag]) to += 1;
    const isTwice = to - from >= lag && to - from < 2 * lag;
    if (base + from < this.reportedUntil || !isTwice) return undefined;
    this.reportedUntil = base + to;
    let squares = 0;
    let steps = 0;
    for (let at = from; at < to; at += 1) {
      squares += (samples[at] as number) ** 2;
      steps += ((samples[at] as number) - (samples[at - 1] as number)) ** 2;
    }
    const isSteady = steps < leastSteps * squares || isPeriodic(samples, from - lag, lag);
    return { at: base + from, length: to - from, dbov: meanSquareDb(squares / (to - from)), isSteady };
  }
}

export interface Stretch {
  from: number;
  to: number;
  end: number;
  base: number;
}

function isPeak(samples: Int16Array, at: number): boolean {
  const height = samples[at] as number;
  if (height <= (samples[at - 1] as number) || height < (samples[at + 1] as number)) return false;
  for (let near = 2; near <= peakRange; near += 1)
    if ((samples[at - near] as number) >= height || (samples[at + near] as number) > height) return false;
  return true;
}

/** The likeness of a tone to itself one period later; the period need not be a whole number of samples. */
const toneLikeness = 0.99;
const shortestPeriod = 16;
/** 20 Hz: a longer period is heard as a rhythm. */
const longestPeriod = 800;
/** How many samples are compared at each distance: the search must not hold up other messages. */
const mostCompared = 800;

/** Whether samples are also alike at a shorter distance, like in a tone. */
function isPeriodic(samples: Int16Array, from: number, length: number): boolean {
  const step = Math.ceil(length / mostCompared);
  for (let lag = shortestPeriod; lag <= Math.min(longestPeriod, length / 2); lag += 1) {
    let product = 0;
    let ofFirst = 0;
    let ofSecond = 0;
    for (let at = from; at + lag < from + length; at += step) {
      const first = samples[at] as number;
      const second = samples[at + lag] as number;
      product += first * second;
      ofFirst += first * first;
      ofSecond += second * second;
    }
    if (product >= toneLikeness * Math.sqrt(ofFirst * ofSecond)) return true;
  }
  return false;
}
