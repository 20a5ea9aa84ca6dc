/**
 * How many samples are kept, and how many remain when room is made: enough for half a second that is sent twice, as much
 * after it, and the audio between the beginning of a repeat and its first peak.
 */
const capacity = 48_000;
const remaining = 24_000 + 4_000;
const mostSeams = 256;
/** With messages shorter than 10 ms, any place is near the beginning of one. */
const shortestMessage = 160;

/** If this many samples are equal, the audio is the same. */
const comparedSamples = 32;

/** The newest samples of a voice, and where its messages begin. Places are counted from the first sample of the voice. */
export class RecentAudio {
  readonly samples = new Int16Array(capacity);
  /** The place of `samples[0]`, and the number of samples. */
  base = 0;
  count = 0;
  private readonly seams = new Float64Array(mostSeams);
  private seamCount = 0;

  add(sample: number): void {
    this.samples[this.count] = sample;
    this.count += 1;
  }

  /** Drops the oldest samples if there is no room. Returns how many were dropped. */
  makeRoom(): number {
    if (this.count < capacity) return 0;
    const dropped = capacity - remaining;
    this.samples.copyWithin(0, dropped);
    this.base += dropped;
    this.count = remaining;
    return dropped;
  }

  /** A message begins here. */
  markSeam(): void {
    this.seams[this.seamCount % mostSeams] = this.base + this.count;
    this.seamCount += 1;
  }

  /** Whether a message, other than the first, begins at this place. */
  isSeam(place: number): boolean {
    const oldest = Math.max(1, this.seamCount - mostSeams + 1);
    for (let index = this.seamCount - 1; index >= oldest; index -= 1) {
      const seam = this.seams[index % mostSeams] as number;
      if (seam < place) return false;
      if (seam === place) return seam - (this.seams[(index - 1) % mostSeams] as number) >= shortestMessage;
    }
    return false;
  }

  /** Whether the message that begins here, or the previous one, is sent for the second time. */
  isRepeat(place: number): boolean {
    for (let index = this.seamCount - 1; index > Math.max(0, this.seamCount - mostSeams); index -= 1) {
      if (this.seams[index % mostSeams] !== place) continue;
      const length = place - (this.seams[(index - 1) % mostSeams] as number);
      return this.isSame(place, length) || this.isSame(place - length, length);
    }
    return false;
  }

  /** Whether the samples at this place equal those `lag` samples before, and are not silence. */
  private isSame(place: number, lag: number): boolean {
    const from = place - this.base;
    if (from - lag < 0 || from + comparedSamples > this.count) return false;
    let isVaried = false;
    for (let at = from; at < from + comparedSamples; at += 1) {
      if (this.samples[at] !== this.samples[at - lag]) return false;
      if (this.samples[at] !== this.samples[from]) isVaried = true;
    }
    return isVaried;
  }
}
