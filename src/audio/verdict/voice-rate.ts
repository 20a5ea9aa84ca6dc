import type { Clock } from '../../kernel/clock.ts';
import { JoinedBytes } from '../../kernel/joined-bytes.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import { sampleAt } from '../sample-at.ts';
import type { FoundInVoice, FoundSounds } from './found-sounds.ts';
import {
  type JudgedPace,
  type JudgedPaceFinding,
  judgePace,
  judgeReplyRate,
  judgeVoiceRate,
  patientMs,
  showsRightRate,
} from './judge-pace.ts';
import { type LostTime, type MessageArrival, PaceCheck } from './pace-check.ts';
import { speechPeak } from './pcm-check.ts';
import { formatSizes } from './recognise-format.ts';
import type { PaceMeasure } from './span.ts';
import { isOtherFormat, type SpeakingSide, type VoiceFinding } from './voice-findings.ts';
import { measureScale } from './voice-scale.ts';

export interface VoiceRateOptions {
  /** Whose voice it is. */
  from: SpeakingSide;
  clock: Pick<Clock, 'now'>;
  own: LostTime;
  isThorough: boolean;
  /** What was found in the format of the voice, so far. */
  found: ReadonlySet<VoiceFinding>;
  /** Gets the finding about the rate of a service. */
  sounds: FoundSounds;
}

/** A pace, and what is wrong with it. */
export interface PaceVerdict {
  measure: PaceMeasure;
  judged: JudgedPace;
}

/** Interval at which the pace is judged. */
const judgeEveryMs = 2_000;
/** Audio that is kept to measure the voice: enough for a second of speech at 48 kHz. */
const keptBytes = bytesForMs(4_000);
const leastKeptBytes = bytesForMs(2_000);
const lookedAtBytes = bytesForMs(20);

/** The shared result without findings. */
const nothing: readonly never[] = [];

/** Judges the pace of one side, and the rate that pace and voice show together. */
export class VoiceRate {
  /** Whether it is time for `judge`. */
  isDue = false;
  private readonly options: VoiceRateOptions;
  private readonly isService: boolean;
  private readonly pace: PaceCheck;
  /** The rate of a service. The rate of a device changes with its pace. */
  private rate: JudgedPaceFinding | undefined;
  /** Whole milliseconds; −1 before the first message. */
  private nextJudgeAt = -1;
  /** The last reported pace, and the result of the previous interval. */
  private reported: string | undefined;
  private seen = '';
  private isProven = false;
  /** The beginning of the voice, while it is kept. Joined: a buffer for each short message takes far more memory. */
  private kept: JoinedBytes | undefined;
  private keptLength = 0;
  /** By what factor the voice sounds too slow; `unheard` before it is measured. */
  private scale: number | undefined | 'unheard' = 'unheard';

  constructor(options: VoiceRateOptions) {
    this.options = options;
    this.isService = options.from === 'service';
    this.pace = new PaceCheck(options.own);
    // Replies are short: when their pace is known, most of the voice has already passed.
    if (this.isService || options.isThorough) this.kept = new JoinedBytes();
  }

  /** Takes a message that arrived at `now`. `arrival`: if it did not arrive just now. */
  push(message: Buffer, now: number, arrival?: MessageArrival): void {
    const ms = Math.round(now);
    this.pace.push(message.length, now, arrival);
    if (this.nextJudgeAt < 0) this.nextJudgeAt = ms + judgeEveryMs;
    else if (ms >= this.nextJudgeAt) this.isDue = true;
    if (this.kept !== undefined && this.keptLength < keptBytes) this.keep(this.kept, message);
  }

  /**
   * The verdict on the recent pace if it has changed: the first one at once, each later one when it was seen twice, and
   * again when the voice itself reveals a different sample rate. If late messages make it uncertain, a longer time is judged.
   */
  judge(): PaceVerdict | undefined {
    this.isDue = false;
    this.nextJudgeAt = Math.round(this.options.clock.now()) + judgeEveryMs;
    const measure = this.pace.latestReport();
    return this.isService ? this.judgeService(measure) : this.judgeDevice(measure);
  }

  /** The verdict on the whole. */
  verdict(): PaceVerdict {
    const measure = this.pace.report();
    return { measure, judged: this.isService ? this.ownRate() : judgePace(measure, this.facts()).judged };
  }

  /** Judges a reply, or what has arrived of it. */
  judgeReply(): readonly FoundInVoice[] {
    const measure = this.pace.latestReport();
    const facts = this.facts();
    if (judgeReplyRate(measure, facts) === undefined) return nothing;
    const scale = this.isOtherFormat() ? undefined : this.measureVoice();
    return this.keepRate(judgeReplyRate(measure, { ...facts, scale }));
  }

  /** Judges the rate of a service by its voice alone. */
  judgeVoice(): readonly FoundInVoice[] {
    return this.keepRate(judgeVoiceRate(this.measureVoice()));
  }

  /** Measures the voice, once. */
  measureVoice(): number | undefined {
    if (this.scale === 'unheard') {
      this.scale = this.kept === undefined ? undefined : measureScale(this.kept.take());
      this.kept = undefined;
    }
    return this.scale;
  }

  /** A reply has ended: the next message begins another one. */
  restart(): void {
    this.pace.restart();
    this.nextJudgeAt = -1;
    this.isDue = false;
  }

  /** The samples turned out to have another size: the rate must be judged again. */
  forget(): void {
    this.rate = undefined;
    this.options.sounds.forget('wrong-rate');
  }

  /** Why the voice does not show the rate; undefined if it does, or if it was not measured. */
  get unjudged(): string | undefined {
    if (this.isOtherFormat()) return undefined;
    return this.scale === undefined ? 'less than a second of speech' : undefined;
  }

  /** Whether the pace of the last reply shows that its rate is right. Without it only a voice that is far off shows a wrong one. */
  get isShown(): boolean {
    return showsRightRate(this.pace.report());
  }

  /** Whether there is another explanation for the rate that was found in a service's audio. */
  get isDoubtful(): boolean {
    return this.rate?.isDoubtful === true;
  }

  /** Whether a reply arrives at the pace of another rate: then its bandwidth cannot be judged. */
  get isOfOtherPace(): boolean {
    return this.isService && judgeReplyRate(this.pace.latestReport(), this.facts()) !== undefined;
  }

  private keep(kept: JoinedBytes, message: Buffer): void {
    if (kept.length === 0 && !isAudible(message)) return;
    kept.add(message);
    this.keptLength = kept.length;
  }

  private judgeService(measure: PaceMeasure): PaceVerdict | undefined {
    const before = this.rate;
    if (this.keptLength >= leastKeptBytes) this.judgeReply();
    const isNew = this.reported === undefined || this.rate !== before;
    if (measure.timesRealTime === null || !isNew) return undefined;
    this.reported = '';
    return { measure, judged: this.ownRate() };
  }

  private judgeDevice(measure: PaceMeasure): PaceVerdict | undefined {
    const { judged, isSure } = this.judgeDevicePace(measure);
    if (isSure || measure.passedMs >= patientMs) this.pace.forget();
    if (!isSure && judged.length === 0) return undefined;
    const now = keyOf(judged);
    const isProof = !this.isProven && judged.some(isProvenRate);
    const isNew = this.reported === undefined || (now !== this.reported && now === this.seen) || isProof;
    this.seen = now;
    if (!isNew) return undefined;
    this.isProven = judged.some(isProvenRate);
    this.reported = now;
    return { measure, judged };
  }

  /** If the pace suggests another rate, the voice is measured from then on, and decides when enough was heard. */
  private judgeDevicePace(measure: PaceMeasure): ReturnType<typeof judgePace> {
    const result = judgePace(measure, this.facts());
    const isOpen = result.judged.some(({ isDoubtful }) => isDoubtful) && this.scale === 'unheard';
    if (!isOpen || this.isOtherFormat()) return result;
    this.kept ??= new JoinedBytes();
    if (this.keptLength < leastKeptBytes) return result;
    this.measureVoice();
    return judgePace(measure, this.facts());
  }

  /** The rate of a service, if it is wrong. */
  private ownRate(): JudgedPace {
    return this.rate === undefined || this.options.sounds.isExplained(this.rate) ? [] : [this.rate];
  }

  /** Keeps the finding about the rate. A certain one replaces a doubtful one. */
  private keepRate(rate: JudgedPaceFinding | undefined): readonly FoundInVoice[] {
    if (rate === undefined || (this.rate !== undefined && (rate.isDoubtful || !this.rate.isDoubtful)))
      return nothing;
    const { sounds } = this.options;
    if (sounds.isExplained(rate)) return nothing;
    this.rate = rate;
    return sounds.add(rate);
  }

  private isOtherFormat(): boolean {
    return isOtherFormat(this.options.found);
  }

  private facts() {
    return { sizes: sizesOf(this.options.found), scale: this.scale === 'unheard' ? undefined : this.scale };
  }
}

/** Bytes per sample of the detected format, relative to the right format. */
function sizesOf(found: ReadonlySet<VoiceFinding>): number {
  for (const finding of found) {
    const sizes = formatSizes[finding];
    if (sizes !== undefined) return sizes;
  }
  return 1;
}

function isProvenRate({ finding, isDoubtful }: JudgedPaceFinding): boolean {
  return finding === 'wrong-rate' && !isDoubtful;
}

/** A verdict for comparison, without its figures, which vary. */
function keyOf(judged: JudgedPace): string {
  return judged
    .map(({ finding, remark }) => finding + (/looks like (.+?)(?:,| \()/.exec(remark)?.[1] ?? ''))
    .join();
}

/** Whether the first samples of a message are as loud as speech. */
function isAudible(message: Buffer): boolean {
  const length = Math.min(message.length, lookedAtBytes);
  for (let at = 0; at + 1 < length; at += 2) if (Math.abs(sampleAt(message, at)) >= speechPeak) return true;
  return false;
}
