import { msForBytes } from '../../protocol/audio-format.ts';

/** Places that are known: one for each pause before a message, newest last. */
const most = 64;

/**
 * When each place of a voice is heard by a listener who plays audio as it arrives, or after what is still playing. Two
 * numbers for each pause: a frame that is on time adds none.
 */
export class HeardAt {
  /** Where audio went on after a pause: milliseconds of audio, and of the clock. */
  private readonly places = new Float64Array(2 * most);
  private count = 0;
  /** When what arrived so far is played. */
  private playedUntil = Number.NEGATIVE_INFINITY;

  /** Takes the length of a message that arrives at `now`, after so many bytes. */
  note(passed: number, bytes: number, now: number): void {
    if (now > this.playedUntil) this.begin(msForBytes(passed), now);
    this.playedUntil = Math.max(now, this.playedUntil) + msForBytes(bytes);
  }

  /** The time on the clock at which this place of the audio is heard. */
  timeOf(audioMs: number): number {
    let index = this.count - 1;
    while (index > 0 && (this.places[2 * index] as number) > audioMs) index -= 1;
    return (this.places[2 * index + 1] ?? 0) + audioMs - (this.places[2 * index] ?? 0);
  }

  private begin(audioMs: number, now: number): void {
    if (this.count === most) {
      this.places.copyWithin(0, 2);
      this.count -= 1;
    }
    this.places[2 * this.count] = audioMs;
    this.places[2 * this.count + 1] = now;
    this.count += 1;
  }
}
