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
