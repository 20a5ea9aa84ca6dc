import { msForBytes } from '../../protocol/audio-format.ts';
import type { Tally } from './tally.ts';

/** Hears the replies of one session: first audio, jitter and gaps. All times are monotonic milliseconds. */
export class Ear {
  readonly #tally: Tally;
  readonly #settleMs: number;
  #awaitedSince: number | undefined;
  #replyBegan: number | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #lastMs = 0;
  #pairs = 0;
  #jitterMs = 0;
  #gapMs = 0;

  constructor(tally: Tally, settleMs: number) {
    this.#tally = tally;
    this.#settleMs = settleMs;
  }

  /** When the last AI audio arrived; −∞ before the first. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** When the awaited reply began; undefined until it does. */
  get replyBegan(): number | undefined {
    return this.#replyBegan;
  }

  /** Since when a reply is awaited that has not begun. */
  get awaitedSince(): number | undefined {
    return this.#awaitedSince;
  }

  /** From `due` on the next AI audio is the reply. */
  expect(due: number): void {
    this.endReply();
    this.#awaitedSince = due;
  }

  hear(bytes: number, at: number): void {
    const { counts } = this.#tally;
    counts.messagesIn += 1;
    counts.bytesIn += bytes;
    if (bytes === 0) return;
    if (this.#awaitedSince !== undefined) {
      this.#tally.finished('first-audio', at - this.#awaitedSince);
      this.#awaitedSince = undefined;
      this.#replyBegan = at;
      counts.replies += 1;
    } else if (at - this.#lastAt < this.#settleMs) {
      const betweenMs = at - this.#lastAt;
      this.#pairs += 1;
      this.#jitterMs = Math.max(this.#jitterMs, Math.abs(betweenMs - this.#lastMs));
      this.#gapMs = Math.max(this.#gapMs, betweenMs);
    }
    this.#lastAt = at;
    this.#lastMs = msForBytes(bytes);
  }

  /** What is awaited does not come any more: its age counts as a lower bound. Returns whether anything was awaited. */
  giveUp(now: number): boolean {
    if (this.#awaitedSince === undefined) return false;
    this.#tally.unfinished('first-audio', now - this.#awaitedSince);
    this.#awaitedSince = undefined;
    return true;
  }

  /** Counts the jitter and the longest gap of the reply, if it had more than one message. */
  endReply(): void {
    if (this.#pairs > 0) {
      this.#tally.finished('jitter', this.#jitterMs);
      this.#tally.finished('gap', this.#gapMs);
    }
    this.#replyBegan = undefined;
    this.#pairs = 0;
    this.#jitterMs = 0;
    this.#gapMs = 0;
  }
}
