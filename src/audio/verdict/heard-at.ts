import { msForBytes } from '../../protocol/audio-format.ts';

/** How many places are kept: one for each pause before a message, newest last. */
const most = 64;

/**
 * When a listener hears each place of a voice, if audio is played when it arrives, or after the audio that is still playing.
 * Keeps three numbers per pause; a frame that is on time adds nothing.
 */
export class HeardAt {
  /** Where audio continued after a pause: in milliseconds of audio, on the clock, and when the rest of it was dropped. */
  private readonly places = new Float64Array(3 * most);
  private count = 0;
  /** When all audio that has arrived is played. */
  private playedUntil = Number.NEGATIVE_INFINITY;

  /** Takes the length of a message that arrives at `now`, after so many bytes. */
  arrived(passed: number, bytes: number, now: number): void {
    if (now > this.playedUntil) this.begin(msForBytes(passed), now);
    this.playedUntil = Math.max(now, this.playedUntil) + msForBytes(bytes);
  }

  /** Audio that has not been heard yet is dropped: what arrives next is heard at once. */
  interrupted(now: number): void {
    this.playedUntil = Number.NEGATIVE_INFINITY;
    const last = 3 * (this.count - 1);
    if (last >= 0) this.places[last + 2] = Math.min(this.places[last + 2] as number, now);
  }

  /**
   * The time on the clock at which this place of the audio is heard or, if it was dropped, when that happened. Undefined
   * if no audio has arrived.
   */
  timeOf(audioMs: number): number | undefined {
    if (this.count === 0) return undefined;
    let index = this.count - 1;
    while (index > 0 && (this.places[3 * index] as number) > audioMs) index -= 1;
    const [from = 0, at = 0, droppedAt = Number.POSITIVE_INFINITY] = this.places.subarray(
      3 * Math.max(0, index),
      3 * this.count,
    );
    return Math.min(droppedAt, at + audioMs - from);
  }

  private begin(audioMs: number, now: number): void {
    if (this.count === most) {
      this.places.copyWithin(0, 3);
      this.count -= 1;
    }
    this.places.set([audioMs, now, Number.POSITIVE_INFINITY], 3 * this.count);
    this.count += 1;
  }
}
