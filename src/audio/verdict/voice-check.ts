import type { Clock } from '../../kernel/clock.ts';
import { bytesForMs, bytesPerSample, msForBytes } from '../../protocol/audio-format.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { LatestLevel } from '../level.ts';
import { type EchoKind, echoKindText, UserEchoDetector } from '../user-echo.ts';
import {
  advised,
  type FoundInVoice,
  FoundSounds,
  type HeardSound,
  type VoiceJudgement,
} from './found-sounds.ts';
import { HeaderCheck } from './header-check.ts';
import { HeardAt } from './heard-at.ts';
import {
  type JudgedPace,
  type JudgedPaceFinding,
  judgePace,
  judgeReplyRate,
  judgeVoiceRate,
  type PaceFinding,
  patientMs,
  showsRightRate,
} from './judge-pace.ts';
import { Listener, type ListenerBudget, type VoiceMeasures } from './listener.ts';
import { type LostTime, type MessageArrival, PaceCheck } from './pace-check.ts';
import { PcmCheck, recogniseContainer, speechPeak } from './pcm-check.ts';
import { formatSizes } from './recognise-format.ts';
import type { PaceMeasure, PaceReport } from './span.ts';
import {
  findingText,
  isWrongFormat,
  type SpeakingSide,
  type VoiceFinding,
  voiceFindings,
} from './voice-findings.ts';
import { measureScale } from './voice-scale.ts';

/** The certain findings in a voice so far, and its pace. */
export interface VoiceVerdict {
  pace: PaceReport;
  findings: VoiceFinding[];
  /** The same as text, most useful first; empty if all is well. */
  remarks: string[];
  /** What to do about the first. */
  advice?: string;
}

export interface VoiceCheckOptions {
  /** Whose voice it is. */
  from: SpeakingSide;
  /** The machine's clock. */
  clock: Pick<Clock, 'now'>;
  own?: LostTime;
  /** Always measures the voice itself, not only if the pace gives a reason. Takes about 20 ms of processor time. */
  isThorough?: boolean;
  /** Limits how many voices are listened to. Default: this one always is. */
  budget?: ListenerBudget | undefined;
}

/** Interval at which the pace is judged. */
const judgeEveryMs = 2_000;
/** A pause this long ends a reply. */
const replyPauseMs = 500;
/** After a shorter pause the same words may continue, so their end is not judged. */
const finalPauseMs = 1_500;
/** Audio that is kept to measure the voice: enough for a second of speech at 48 kHz. */
const keptBytes = bytesForMs(4_000);
const leastKeptBytes = bytesForMs(2_000);
const lookedAtBytes = bytesForMs(20);

const samplesPerMs = bytesForMs(1) / bytesPerSample;

/** Findings that do not affect the samples. */
const ofRightSamples: ReadonlySet<VoiceFinding> = new Set(['riff-header', 'odd-sizes']);

/** Findings that change how a voice sounds: then it does not show its rate. */
const changesSound = ['noise', 'narrow-band', 'clipping'] as const;

/** More than there are kinds. */
const mostHeld = 64;

/** The shared result for messages without findings, so that most messages allocate nothing. */
const nothing: readonly never[] = [];

type Found = Exclude<VoiceFinding, PaceFinding>;

/** Judges the voice of one side of a stream. A class, because every frame passes through it: see ARCHITECTURE.md. */
export class VoiceCheck {
  readonly level: LatestLevel;
  /** Whether it is time for `judgePace`. */
  isDue = false;
  private readonly options: VoiceCheckOptions;
  private readonly isService: boolean;
  private readonly pace: PaceCheck;
  private readonly pcm: PcmCheck;
  private readonly headers = new HeaderCheck();
  private readonly found = new Set<Found>();
  private readonly sounds = new FoundSounds();
  private readonly heardAt = new HeardAt();
  /** Hears how the voice sounds; null if too many others are listened to, undefined before the first message. */
  private listener: Listener | null | undefined;
  private back: UserEchoDetector | undefined;
  /** Findings in the other side's audio, which come back with it. */
  private readonly ofOther = new Set<VoiceFinding>();
  /** Findings to report if the audio turns out to be the service's own voice. */
  private held: { one: FoundInVoice; at: number }[] = [];
  /** Bytes so far. */
  private passed = 0;
  /** Whether the current reply was interrupted. */
  private isStopped = false;
  /** Whether the audio has ended, and the place among the listeners was returned. */
  private isOver = false;
  /** The rate of a service. The rate of a device changes with its pace. */
  private rate: JudgedPaceFinding | undefined;
  /** Whole milliseconds; −1 before the first message. */
  private nextJudgeAt = -1;
  private lastAt = -1;
  private isOdd = false;
  /** The last reported pace, and the result of the previous interval. */
  private told: string | undefined;
  private seen = '';
  private isProven = false;
  /** The beginning of the voice, while it is kept, and its length. */
  private kept: Buffer[] | undefined;
  private keptLength = 0;
  /** By what factor the voice sounds too slow; `unheard` before it is measured. */
  private scale: number | undefined | 'unheard' = 'unheard';

  constructor(options: VoiceCheckOptions) {
    const { from, clock, own = { lostMs: 0 }, isThorough } = options;
    this.options = options;
    this.isService = from === 'service';
    this.pace = new PaceCheck(own);
    this.pcm = new PcmCheck({ isWhole: this.isService });
    this.level = new LatestLevel(clock);
    // Replies are short: when their pace is known, most of the voice has already passed.
    if (this.isService || isThorough === true) this.kept = [];
  }

  /** For a message that is taken later. */
  arrival(): MessageArrival {
    const { clock, own } = this.options;
    return { at: clock.now(), lostMs: own?.lostMs ?? 0, heldMs: own?.heldMs ?? 0 };
  }

  /** Takes a message; returns new findings. `arrival`: if it did not arrive just now. */
  push(message: Buffer, arrival?: MessageArrival): readonly FoundInVoice[] {
    const now = arrival?.at ?? this.options.clock.now();
    const ms = Math.round(now);
    const ofPause =
      this.isService && this.lastAt >= 0 && ms - this.lastAt >= replyPauseMs
        ? this.endReply(ms - this.lastAt >= finalPauseMs)
        : nothing;
    this.lastAt = ms;
    this.level.note(message);
    this.pace.push(message.length, now, arrival);
    this.heardAt.note(this.passed, message.length, now);
    if (this.nextJudgeAt < 0) this.nextJudgeAt = ms + judgeEveryMs;
    else if (ms >= this.nextJudgeAt) this.isDue = true;
    if (this.kept !== undefined && this.keptLength < keptBytes) this.keep(this.kept, message);
    const ofEcho = this.back === undefined ? nothing : this.hearEcho(message, now);
    const ofSound = this.hear(message);
    const ofSamples = this.pcm.push(message, ms);
    this.passed += message.length;
    const isOdd = message.length % 2 === 1;
    if (isOdd) this.isOdd = !this.isOdd;
    const isNewOdd = isOdd && !this.isService && !this.found.has('odd-sizes');
    const hasHeader = this.headers.push(message);
    if (ofSamples.length === 0 && !isNewOdd && !hasHeader && ofSound.length === 0 && ofEcho.length === 0)
      return this.tell(ofPause);
    const findings: Found[] = [
      ...ofSamples,
      ...(hasHeader ? ['frame-header' as const] : []),
      ...(isNewOdd ? ['odd-sizes' as const] : []),
    ];
    const ofFindings = findings.flatMap((finding) => this.note(finding));
    return this.tell([...ofPause, ...ofFindings, ...ofEcho, ...ofSound]);
  }

  /** Records a finding from outside binary messages; returns it if it is new. */
  note(finding: Found): readonly FoundInVoice[] {
    const remark = findingText(finding, this.options.from);
    if (remark === undefined || this.found.has(finding)) return nothing;
    this.found.add(finding);
    if (formatSizes[finding] !== undefined) this.forgetRate();
    return this.enter({ finding, remark, atMs: Math.round(msForBytes(this.passed)) });
  }

  /** The other side speaks: if a reply is arriving, its end is not judged. */
  stopped(): void {
    const isArriving = this.lastAt >= 0 && this.options.clock.now() - this.lastAt < replyPauseMs;
    if (isArriving) this.isStopped = true;
  }

  /** The service drops audio that has not been heard yet. */
  interrupted(): void {
    this.stopped();
    const now = this.options.clock.now();
    this.heardAt.interrupted(now);
    this.listener?.interrupted();
    this.back?.interrupted(now);
  }

  /** Takes audio of the other side, which may come back. */
  otherSaid(pcm: Buffer): void {
    if (this.isOver) return;
    if (this.listener === undefined) this.beginToListen();
    if (this.back === undefined && recogniseContainer(pcm) === 'riff-header') this.ofOther.add('riff-header');
    if (pcm.length % bytesPerSample !== 0) this.ofOther.add('odd-sizes');
    this.back ??= new UserEchoDetector({ compares: this.listener !== null });
    this.back.said(pcm, this.options.clock.now());
  }

  /** How this audio comes from the other side, if all of it does; undefined if it is a voice of its own. */
  get returned(): EchoKind | undefined {
    return this.back?.is;
  }

  /**
   * All findings so far, except those that others explain, and those that come from the other side. Published in this order:
   * causes before symptoms.
   */
  judgements(): VoiceJudgement[] {
    return this.allJudgements().filter(({ kind }) => !this.isReturned(kind));
  }

  /** Whether a finding exists only because the other side's audio comes back. */
  isReturned(finding: VoiceFinding): boolean {
    if (finding === 'odd-sizes' && this.back?.hasOddBack) return true;
    if (finding === 'user-echo' && this.back?.hasEchoBesideRepeat) return false;
    return this.returned !== undefined && (!ofRightSamples.has(finding) || this.ofOther.has(finding));
  }

  private allJudgements(): VoiceJudgement[] {
    return this.sounds.judgements(this.options.from, (finding) => this.isMisread(finding));
  }

  measures(): VoiceMeasures {
    if (this.returned !== undefined) return { activeDbov: null, floorDbov: null, bandwidthHz: null };
    return this.listener?.measures() ?? { activeDbov: null, floorDbov: null, bandwidthHz: null };
  }

  /**
   * The verdict on the recent pace if it has changed: the first one at once, each later one when it was seen twice, and
   * again when the voice itself reveals a different sample rate. If late messages make it uncertain, a longer time is judged.
   */
  judgePace(): VoiceVerdict | undefined {
    this.isDue = false;
    this.nextJudgeAt = Math.round(this.options.clock.now()) + judgeEveryMs;
    const report = this.pace.latestReport();
    if (this.isService) return this.judgeServicePace(report);
    const { judged, isSure } = this.judgeDevicePace(report);
    if (isSure || report.passedMs >= patientMs) this.pace.forget();
    if (!isSure && judged.length === 0) return undefined;
    const now = keyOf(judged);
    const isProof = !this.isProven && judged.some(isProvenRate);
    const isNew = this.told === undefined || (now !== this.told && now === this.seen) || isProof;
    this.seen = now;
    if (!isNew) return undefined;
    this.isProven = judged.some(isProvenRate);
    this.told = now;
    return this.verdictOf(report, judged, []);
  }

  /** The audio has ended: judges what could not be judged earlier. Returns new findings. */
  end(): readonly FoundInVoice[] {
    const now = Math.round(this.options.clock.now());
    const ofSamples = this.isService ? this.pcm.end(now).flatMap((finding) => this.note(finding)) : nothing;
    const isOver = now - this.lastAt >= replyPauseMs;
    const ofReply = this.isService ? this.endReply(isOver) : this.endListening(false);
    if (this.listener) this.options.budget?.release();
    this.isOver = true;
    // A service that is interrupted may stop within a sample.
    const hasEnded = this.isService && this.isOdd && isOver;
    const found = [...ofSamples, ...(hasEnded ? this.note('odd-sizes') : nothing), ...ofReply];
    if (!this.options.isThorough || this.isOtherFormat()) return this.tell(found);
    const scale = this.listen();
    const isChanged = changesSound.some((kind) => this.sounds.has(kind));
    return this.tell(
      this.isService && !isChanged ? [...found, ...this.noteRate(judgeVoiceRate(scale))] : found,
    );
  }

  /** Returns news, and findings that were held back. Holds back findings in audio that comes from the other side. */
  private tell(news: readonly FoundInVoice[]): readonly FoundInVoice[] {
    if (this.back === undefined || (news.length === 0 && this.held.length === 0)) return news;
    const now = this.options.clock.now();
    const all = [...this.held, ...news.map((one) => ({ one, at: now }))];
    this.held = all.filter(({ one }) => this.isReturned(one.finding)).slice(0, mostHeld);
    return all
      .filter(({ one }) => !this.isReturned(one.finding))
      .map(({ one, at }) =>
        one.agoMs === undefined ? one : { ...one, agoMs: one.agoMs + Math.round(now - at) },
      );
  }

  /** Whether there was audio to judge: 60 ms that are not silent. */
  get hasSound(): boolean {
    return this.pcm.hasSound;
  }

  /** Why the voice was not judged; undefined if it was, or if it was not listened to. */
  get unjudged(): string | undefined {
    if (this.returned !== undefined) return echoKindText[this.returned];
    if (this.isOtherFormat()) return undefined;
    if (this.listener === null) return 'too many voices at once';
    return this.listener?.unjudged;
  }

  /** Why the voice does not show the rate; undefined if it does, or if it was not measured. */
  get rateUnjudged(): string | undefined {
    if (this.isOtherFormat()) return undefined;
    return this.scale === undefined ? 'less than a second of speech' : undefined;
  }

  /** Whether the pace of the last reply shows that its rate is right. Without it only a voice that is far off shows a wrong one. */
  get isRateShown(): boolean {
    return showsRightRate(this.pace.report());
  }

  /** Whether there is another explanation for the rate that was found in a service's audio. */
  get isRateDoubtful(): boolean {
    return this.rate?.isDoubtful === true;
  }

  verdict(): VoiceVerdict {
    const report = this.pace.report();
    const pace = this.isService ? this.ownRate() : judgePace(report, this.facts()).judged;
    const certain = this.allJudgements().filter(({ is, kind }) => is === 'finding' && kind !== 'wrong-rate');
    return this.verdictOf(report, pace, certain);
  }

  private keep(kept: Buffer[], message: Buffer): void {
    if (kept.length === 0 && !isAudible(message)) return;
    // A view would keep the whole buffer from the socket in memory.
    kept.push(Buffer.from(message));
    this.keptLength += message.length;
  }

  /** If the pace suggests another rate, the voice is measured from then on, and decides when enough was heard. */
  private judgeDevicePace(report: PaceMeasure): ReturnType<typeof judgePace> {
    const result = judgePace(report, this.facts());
    if (
      !result.judged.some(({ isDoubtful }) => isDoubtful) ||
      this.scale !== 'unheard' ||
      this.isOtherFormat()
    )
      return result;
    this.kept ??= [];
    if (this.keptLength < leastKeptBytes) return result;
    this.listen();
    return judgePace(report, this.facts());
  }

  /** Measures the voice, once. */
  private listen(): number | undefined {
    if (this.scale === 'unheard') {
      this.scale = this.kept === undefined ? undefined : measureScale(Buffer.concat(this.kept));
      this.kept = undefined;
    }
    return this.scale;
  }

  private hear(message: Buffer): readonly FoundInVoice[] {
    if (this.listener === undefined) this.beginToListen();
    this.listener?.push(message);
    return this.takeHeard();
  }

  private hearEcho(message: Buffer, now: number): readonly FoundInVoice[] {
    const found = this.back?.heard(message, now);
    const text = findingText('user-echo', this.options.from);
    if (found === undefined || text === undefined || this.isOtherFormat()) return nothing;
    const atMs = Math.max(0, Math.round(msForBytes(this.passed)) - 1_000);
    const value = Math.round(found.gainDb);
    const remark = `${text} (${secondsText(atMs)}: ${found.delayMs} ms late, ${value} dB)`;
    return this.enter({
      finding: 'user-echo',
      remark,
      atMs,
      lengthMs: 1_000,
      figure: { value, unit: 'dB' },
    });
  }

  private beginToListen(): void {
    const { budget } = this.options;
    this.listener = budget === undefined ? new Listener() : (budget.take() ?? null);
  }

  /** Takes what was heard and not yet reported. */
  private takeHeard(): readonly FoundInVoice[] {
    const heard = this.listener?.take() ?? nothing;
    return heard.length === 0 ? nothing : heard.flatMap((one) => this.noteHeard(one));
  }

  private noteHeard({ kind, isCertain, at, length, figure }: HeardSound): readonly FoundInVoice[] {
    if (this.isMisread(kind)) return nothing;
    if (kind === 'narrow-band' && this.hasOtherPace()) return nothing;
    const text = findingText(kind, this.options.from);
    if (text === undefined) return nothing;
    const atMs = Math.round(at / samplesPerMs);
    const value = Math.round(figure.value * 10) / 10;
    const remark = `${text} (${secondsText(atMs)}: ${value} ${figure.unit})`;
    const one = {
      ...{ finding: kind, remark, atMs, figure: { ...figure, value } },
      lengthMs: Math.round(length / samplesPerMs),
      ...(isCertain ? {} : { isDoubtful: true as const }),
    };
    return this.enter(one);
  }

  /** Whether a reply arrives at the pace of another rate: then its bandwidth cannot be judged. */
  private hasOtherPace(): boolean {
    return this.isService && judgeReplyRate(this.pace.latestReport(), this.facts()) !== undefined;
  }

  /** Keeps a finding at a place. Returns it if it is news. */
  private enter(one: FoundInVoice & { atMs: number }): readonly FoundInVoice[] {
    const agoMs = Math.round(this.options.clock.now() - this.heardAt.timeOf(one.atMs));
    return this.sounds.add({ ...one, agoMs });
  }

  /** Whether it was heard in samples that have another format. */
  private isMisread(finding: VoiceFinding): boolean {
    return voiceFindings[finding].about === 'sound' && this.isOtherFormat();
  }

  private endListening(byItself: boolean): readonly FoundInVoice[] {
    this.listener?.end({ byItself: byItself && !this.isStopped });
    this.isStopped = false;
    return this.takeHeard();
  }

  /** A reply or the stream has ended: now its rate is known, or never. */
  private endReply(byItself: boolean): readonly FoundInVoice[] {
    const ofRate = this.judgeReply(this.pace.latestReport());
    const found = [...ofRate, ...this.endListening(byItself)];
    this.pace.restart();
    this.nextJudgeAt = -1;
    this.isDue = false;
    return found;
  }

  private judgeReply(report: PaceMeasure): readonly FoundInVoice[] {
    const facts = this.facts();
    if (judgeReplyRate(report, facts) === undefined) return nothing;
    const scale = this.isOtherFormat() ? undefined : this.listen();
    return this.noteRate(judgeReplyRate(report, { ...facts, scale }));
  }

  private judgeServicePace(report: PaceMeasure): VoiceVerdict | undefined {
    const before = this.rate;
    if (this.keptLength >= leastKeptBytes) this.judgeReply(report);
    const isNew = this.told === undefined || this.rate !== before;
    if (report.timesRealTime === null || !isNew) return undefined;
    this.told = '';
    return this.verdictOf(report, this.ownRate(), []);
  }

  /** The rate of a service, if it is wrong. */
  private ownRate(): JudgedPace {
    return this.rate === undefined || this.sounds.isExplained(this.rate) ? [] : [this.rate];
  }

  /** Keeps the finding about the rate. A certain one replaces a doubtful one. */
  private noteRate(rate: JudgedPaceFinding | undefined): readonly FoundInVoice[] {
    if (rate === undefined || (this.rate !== undefined && (rate.isDoubtful || !this.rate.isDoubtful)))
      return nothing;
    if (this.sounds.isExplained(rate)) return nothing;
    this.rate = rate;
    return this.sounds.add(rate);
  }

  /** The samples turned out to have another size: the rate must be judged again. */
  private forgetRate(): void {
    this.rate = undefined;
    this.sounds.forget('wrong-rate');
  }

  /** Whether the samples have another format, so that there is no voice to measure. */
  private isOtherFormat(): boolean {
    for (const finding of this.found) if (isWrongFormat(finding) && !ofRightSamples.has(finding)) return true;
    return false;
  }

  private facts() {
    return { sizes: this.sizes(), scale: this.scale === 'unheard' ? undefined : this.scale };
  }

  /** Bytes per sample of the detected format, relative to the right format. */
  private sizes(): number {
    for (const finding of this.found) {
      const sizes = formatSizes[finding];
      if (sizes !== undefined) return sizes;
    }
    return 1;
  }

  /** Causes before symptoms: the format of the samples, then their timing. */
  private verdictOf(
    measure: PaceMeasure,
    judged: JudgedPace,
    found: readonly VoiceJudgement[],
  ): VoiceVerdict {
    const { timesRealTime, meanJitterMs, longestGapMs, burstMessages } = measure;
    const [ofPace] = judged;
    const advice = found[0] === undefined ? ofPace && advised(ofPace).advice : found[0].advice;
    return {
      ...(advice === undefined || advice === null ? {} : { advice }),
      pace: { timesRealTime, meanJitterMs, longestGapMs, burstMessages },
      findings: [...found.map(({ kind }) => kind), ...judged.map(({ finding }) => finding)],
      remarks: [...found.map(({ text }) => text), ...judged.map(({ remark }) => remark)],
    };
  }
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
  for (let at = 0; at + 1 < length; at += 2) if (Math.abs(message.readInt16LE(at)) >= speechPeak) return true;
  return false;
}
