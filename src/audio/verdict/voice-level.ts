import { bytesForMs, bytesPerSample } from '../../protocol/audio-format.ts';

/** Samples of one step of the envelope: 1 ms. */
const stepSamples = bytesForMs(1) / bytesPerSample;
/** The envelope is smoothed twice with this time constant. Speech counts for `hangoverMs` longer. */
const smoothing = Math.exp(-1 / 30);
const hangoverMs = 200;
const marginDb = 15.9;
const thresholds = 15;
const heights = Float64Array.from({ length: thresholds }, (_, height) => 2 ** height);
const fullScale = 0x8000;

/**
 * The level of speech without its pauses, by the method of ITU-T P.56: the envelope is compared with thresholds in steps of
 * 6 dB. The threshold that is 15.9 dB below the level of the audio above it counts. In dBov: a full-scale sine is −3.
 */
export class ActiveLevel {
  /** Both smoothings, and the sum of the squares. In an array, because fractions in fields would be allocated. */
  private readonly sums = new Float64Array(3);
  /** For how many milliseconds each number of thresholds was exceeded, including the hangover. */
  private readonly counts = new Uint32Array(thresholds + 1);
  /** The last millisecond, counted from 1, in which exactly this many were exceeded. */
  private readonly lastAt = new Int32Array(thresholds + 1).fill(-hangoverMs);
  private now = 0;
  /** How many are exceeded now, including the hangover. */
  private height = 0;

  /** Takes whole milliseconds of samples. */
  push(samples: Int16Array, from: number, to: number): void {
    for (let at = from; at < to; at += stepSamples) this.step(samples, at);
  }

  /** Forgets everything. */
  clear(): void {
    this.sums.fill(0);
    this.counts.fill(0);
    this.lastAt.fill(-hangoverMs);
    this.now = 0;
    this.height = 0;
  }

  /** The active level, and how long speech was active; undefined if there was only silence. */
  read(): { dbov: number; activeMs: number } | undefined {
    const squares = this.sums[2] as number;
    let activeMs = this.now - (this.counts[0] as number);
    let before: { level: number; above: number } | undefined;
    for (let index = 0; activeMs > 0; index += 1, activeMs -= this.counts[index] as number) {
      const level = meanSquareDb(squares / (activeMs * stepSamples));
      const above = level - meanSquareDb(4 ** index);
      if (above <= marginDb) {
        if (before === undefined) return { dbov: level, activeMs };
        const share = (before.above - marginDb) / (before.above - above);
        return { dbov: before.level + share * (level - before.level), activeMs };
      }
      before = { level, above };
    }
    return undefined;
  }

  private step(samples: Int16Array, from: number): void {
    const { sums } = this;
    let sizes = 0;
    let squares = 0;
    for (let at = from; at < from + stepSamples; at += 1) {
      const sample = samples[at] as number;
      sizes += Math.abs(sample);
      squares += sample * sample;
    }
    const first = smoothing * (sums[0] as number) + ((1 - smoothing) * sizes) / stepSamples;
    const envelope = smoothing * (sums[1] as number) + (1 - smoothing) * first;
    sums[0] = first;
    sums[1] = envelope;
    sums[2] = (sums[2] as number) + squares;
    this.now += 1;
    let height = 0;
    while (height < thresholds && envelope >= (heights[height] as number)) height += 1;
    this.lastAt[height] = this.now;
    if (height > this.height) this.height = height;
    while (this.height > 0 && this.now - (this.lastAt[this.height] as number) > hangoverMs) this.height -= 1;
    this.counts[this.height] = (this.counts[this.height] as number) + 1;
  }
}

/** The level of samples in dBov, measured from `offset`. */
export function levelBetween(samples: Int16Array, from: number, to: number, offset = 0): number {
  let squares = 0;
  for (let at = from; at < to; at += 1) squares += ((samples[at] as number) - offset) ** 2;
  return meanSquareDb(squares / (to - from));
}

/** A mean square of samples, in dBov. */
export function meanSquareDb(meanSquare: number): number {
  return 10 * Math.log10(meanSquare / fullScale ** 2 + 1e-12);
}

/** One for blocks of a single value, then one per dB from −100 dBov. */
const bins = 101;
/** The floor is the quietest twentieth of the blocks, if the next twentieth is hardly louder. */
const quietest = 0.05;
const nextQuietest = 0.1;
const steadyDb = 3;
/** In less than two seconds the quietest blocks may be part of a soft sound. */
const fewestBlocks = 100;
/** A voice has a floor if it has this many quiet blocks, and few of a single value. */
const pauseRangeDb = 30;
/** Noise of less than two sample steps, −84 dBov, has runs of a single value. */
const quantisedBin = 17;
const fewestPauses = 10;
const perSilent = 4;

export class LevelCounts {
  private readonly counts = new Uint32Array(bins);
  private total = 0;

  add(isConstant: boolean, dbov: number): void {
    const bin = isConstant ? 0 : Math.max(1, Math.min(bins - 1, Math.round(dbov) + bins - 1));
    this.counts[bin] = (this.counts[bin] as number) + 1;
    this.total += 1;
  }

  /** Takes over the counts of another one. */
  copy(other: LevelCounts): void {
    this.counts.set(other.counts);
    this.total = other.total;
  }

  clear(): void {
    this.counts.fill(0);
    this.total = 0;
  }

  /** The level of pauses in whole dBov; undefined if they are digital silence, or if there are too few blocks. */
  get floor(): number | undefined {
    if (this.total < fewestBlocks) return undefined;
    const floor = this.quantile(quietest);
    return floor > 0 && this.quantile(nextQuietest) - floor <= steadyDb ? floor - bins + 1 : undefined;
  }

  /** Whether pauses are not digital silence. */
  get hasFloor(): boolean {
    const loudest = this.counts.findLastIndex((count) => count > 0);
    let silent = 0;
    for (let bin = 0; bin < quantisedBin; bin += 1) silent += this.counts[bin] as number;
    let quiet = 0;
    for (let bin = quantisedBin; bin < loudest - pauseRangeDb; bin += 1) quiet += this.counts[bin] as number;
    return quiet >= fewestPauses && quiet >= perSilent * silent;
  }

  private quantile(share: number): number {
    let seen = 0;
    for (let bin = 0; bin < bins; bin += 1) {
      seen += this.counts[bin] as number;
      if (seen > share * this.total) return bin;
    }
    return 0;
  }
}
