import { audibleDbfs, measureLevel } from '../../audio/level.ts';
import { ReplyArrivals } from '../../audio/turn-taking.ts';
import type { Tally } from './tally.ts';

/** Hears the replies of one session: first audio, jitter and gaps. All times are monotonic milliseconds. */
export class Ear extends ReplyArrivals {
  readonly #tally: Tally;
  #awaitedSince: number | undefined;
  #replyBegan: number | undefined;
  /** Since when a reply is awaited that was not heard yet. */
  #unheardSince: number | undefined;
  #pairs = 0;
  #worstJitterMs = 0;
  #longestGapMs = 0;
  /** When the first message of the first pair arrived. */
  #heardSince = 0;

  constructor(tally: Tally, settleMs: number) {
    super(settleMs);
    this.#tally = tally;
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
    this.#unheardSince = due;
  }

  /** Takes a message; the `payload` of `from` is its content, which is read until the reply is heard. */
  hear(bytes: number, at: number, from: { readonly payload: Buffer }): void {
    const { counts } = this.#tally;
    counts.messagesIn += 1;
    counts.bytesIn += bytes;
    if (bytes === 0) return;
    if (this.#unheardSince !== undefined) this.#listen(from.payload, Math.max(at, this.playedUntil));
    const goesOn = this.arrived(bytes, at);
    if (this.#awaitedSince !== undefined) {
      this.#tally.finished('first-audio', at - this.#awaitedSince);
      this.#awaitedSince = undefined;
      this.#replyBegan = at;
      counts.replies += 1;
    } else if (goesOn) {
      if (this.#pairs === 0) this.#heardSince = at - this.betweenMs;
      this.#pairs += 1;
      this.#worstJitterMs = Math.max(this.#worstJitterMs, this.jitterMs);
      this.#longestGapMs = Math.max(this.#longestGapMs, this.betweenMs);
    }
  }

  /** What is awaited does not come any more: its age counts as a lower bound. Returns whether anything was awaited. */
  giveUp(now: number): boolean {
    if (this.#awaitedSince === undefined) return false;
    this.#tally.unfinished('first-audio', now - this.#awaitedSince);
    this.#tally.unfinished('response', now - this.#awaitedSince);
    this.#unheardSince = undefined;
    this.#awaitedSince = undefined;
    return true;
  }

  #listen(pcm: Buffer, heardAt: number): void {
    if (this.#unheardSince === undefined || measureLevel(pcm).rmsDbfs <= audibleDbfs) return;
    this.#tally.finished('response', heardAt - this.#unheardSince);
    this.#unheardSince = undefined;
  }

  /** Counts the jitter and the longest gap of the reply, if it had more than one message. */
  endReply(): void {
    if (this.#pairs > 0) {
      this.#tally.finished('jitter', this.#worstJitterMs, this.#heardSince);
      this.#tally.finished('gap', this.#longestGapMs, this.#heardSince);
    }
    this.#replyBegan = undefined;
    this.#pairs = 0;
    this.#worstJitterMs = 0;
    this.#longestGapMs = 0;
  }
}
