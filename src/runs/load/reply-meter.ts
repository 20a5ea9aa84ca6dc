import { audibleDbfs, measureLevel } from '../../audio/level.ts';
import { ReplyArrivals } from '../../audio/turn-taking.ts';
import { createServiceVoice, type ServiceVoice } from '../../audio/verdict/service-voice.ts';
import { bytesPerSample } from '../../protocol/audio-format.ts';
import { type Cleanness, judgeClean } from '../../session/expectations.ts';
import type { Tally } from './tally.ts';

/** For this long after a reply was first heard its level is not measured: most replies are shorter, and a load hears many. */
const measuredFromMs = 5_000;

/** Measures the replies of one session: first audio, jitter, gaps and the voice. All times are monotonic milliseconds. */
export class ReplyMeter extends ReplyArrivals {
  readonly #tally: Tally;
  readonly #settleMs: number;
  readonly #clean: Cleanness | undefined;
  readonly #voice: ServiceVoice | undefined;
  #awaitedSince: number | undefined;
  #replyBegan: number | undefined;
  #replyHeard: number | undefined;
  /** Since when a reply is awaited that has not been heard yet. */
  #unheardSince: number | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** Whether the level of each message is measured, to see when the AI stops. */
  #isWatched = false;
  /** When the last audible message arrived, while the AI is watched. */
  audibleAt = Number.NEGATIVE_INFINITY;
  /** How many bytes have come: a message may begin within a sample. */
  #passedBytes = 0;
  #pairs = 0;
  #worstJitterMs = 0;
  #longestGapMs = 0;
  /** When the first message of the first pair arrived. */
  #heardSince = 0;

  /** `clean`: if set, the voice is judged. */
  constructor(tally: Tally, settleMs: number, clean?: Cleanness) {
    super(settleMs);
    this.#tally = tally;
    this.#settleMs = settleMs;
    this.#clean = clean;
    this.#voice = clean === undefined ? undefined : createServiceVoice(() => {}, tally);
  }

  /** Whether the voice is judged. */
  get judges(): boolean {
    return this.#voice !== undefined;
  }

  /** Takes a frame that was sent. */
  said(pcm: Buffer, at: number): void {
    this.#voice?.sent(pcm, at);
  }

  override interrupted(at: number): void {
    super.interrupted(at);
    this.#voice?.interrupted(at);
  }

  /** What was found in the voice by the end of the session, as text; undefined if it is clean or was not judged. */
  uncleanAt(now: number): string | undefined {
    if (this.#voice === undefined) return undefined;
    // The session ended a reply that was still going on.
    if (now - this.lastAt < this.#settleMs) this.#voice.interrupted(now);
    this.#voice.end(now);
    const [verdict] = judgeClean(this.#clean, this.#voice.summary());
    return verdict?.ok === false ? String(verdict.measured) : undefined;
  }

  /**
   * The user interrupts: from now on `audibleAt` and `audibleUntil` tell whether the AI stops. Silent audio is a stop. What
   * still comes of the reply counts with it, but its end is no longer awaited.
   */
  watchStop(): void {
    this.#forgetReply();
    this.#isWatched = true;
    this.audibleAt = this.lastAt;
    this.wasAudible();
  }

  /** When the awaited reply was first heard; undefined until it is. */
  get replyHeard(): number | undefined {
    return this.#replyHeard;
  }

  /** When the awaited reply began; undefined until it does. */
  get replyBegan(): number | undefined {
    return this.#replyBegan;
  }

  /**
   * When audio of a reply was last heard: what comes before its first audible audio does not count, nor what is silent in a
   * long reply, because a service may send silence forever.
   */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Since when a reply is awaited that has not been heard. */
  get unheardSince(): number | undefined {
    return this.#unheardSince;
  }

  /** Since when a reply is awaited that has not begun. */
  get awaitedSince(): number | undefined {
    return this.#awaitedSince;
  }

  /** The next AI audio from `due` on is the reply. */
  expect(due: number): void {
    this.#isWatched = false;
    this.endTurn(due);
    this.#awaitedSince = due;
    this.#unheardSince = due;
  }

  /**
   * Takes a message. The `payload` of `from` is its content, read until the reply is heard, while the AI is watched, or if the
   * voice is judged.
   */
  hear(bytes: number, at: number, from: { readonly payload: Buffer }): void {
    const { counts } = this.#tally;
    counts.messagesIn += 1;
    counts.bytesIn += bytes;
    if (bytes === 0) return;
    if (this.#unheardSince !== undefined) this.#listen(from.payload, at);
    this.#voice?.received(from.payload, at);
    const isLong = this.#replyHeard !== undefined && at - this.#replyHeard >= measuredFromMs;
    if (this.#unheardSince === undefined && (!isLong || this.#isAudible(from.payload))) this.#heardAt = at;
    const isAudible = this.#isWatched && this.#isAudible(from.payload);
    this.#passedBytes += bytes;
    const goesOn = this.arrived(bytes, at);
    if (isAudible) {
      this.audibleAt = at;
      this.wasAudible();
    }
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

  /** An awaited reply no longer comes: its age counts as a lower bound. Returns whether one was awaited. */
  giveUp(now: number): boolean {
    this.#giveUpListening(now);
    if (this.#awaitedSince === undefined) return false;
    this.#tally.unfinished('first-audio', now - this.#awaitedSince);
    this.#awaitedSince = undefined;
    return true;
  }

  #listen(pcm: Buffer, at: number): void {
    if (this.#unheardSince === undefined || !this.#isAudible(pcm)) return;
    this.#tally.finished('response', Math.max(at, this.playedUntil) - this.#unheardSince);
    this.#unheardSince = undefined;
    this.#replyHeard = at;
  }

  /** Whether the next message is audible; it may begin within a sample. */
  #isAudible(pcm: Buffer): boolean {
    return measureLevel(pcm.subarray(this.#passedBytes % bytesPerSample)).rmsDbfs > audibleDbfs;
  }

  /** If a reply was not heard, its age counts as a lower bound. */
  #giveUpListening(now: number): void {
    if (this.#unheardSince !== undefined) this.#tally.unfinished('response', now - this.#unheardSince);
    this.#unheardSince = undefined;
  }

  /** A turn is over: if its reply was not heard yet, it no longer counts. */
  endTurn(now: number): void {
    this.#giveUpListening(now);
    this.endReply();
  }

  /** Counts the jitter and the longest gap of the reply, if it had more than one message. */
  endReply(): void {
    if (this.#pairs > 0) {
      this.#tally.finished('jitter', this.#worstJitterMs, this.#heardSince);
      this.#tally.finished('gap', this.#longestGapMs, this.#heardSince);
    }
    this.#forgetReply();
    this.#pairs = 0;
    this.#worstJitterMs = 0;
    this.#longestGapMs = 0;
  }

  #forgetReply(): void {
    this.#replyBegan = undefined;
    this.#replyHeard = undefined;
  }
}
