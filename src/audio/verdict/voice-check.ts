import type { Clock } from '../../kernel/clock.ts';
import { bytesForMs, bytesPerSample, msForBytes } from '../../protocol/audio-format.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { LatestLevel } from '../level.ts';
import { type EchoKind, echoKindText, UserEchoDetector } from '../user-echo.ts';
import {
  type FoundInVoice,
  FoundSounds,
  type HeardSound,
  type VoiceJudgement,
  withAdvice,
} from './found-sounds.ts';
import { HeaderCheck } from './header-check.ts';
import { HeardAt } from './heard-at.ts';
import type { PaceFinding } from './judge-pace.ts';
import { Listener, type VoiceMeasures } from './listener.ts';
import type { ListenerBudget } from './listener-budget.ts';
import type { LostTime, MessageArrival } from './pace-check.ts';
import { PcmCheck, recogniseContainer } from './pcm-check.ts';
import { formatSizes } from './recognise-format.ts';
import type { PaceReport } from './span.ts';
import {
  findingText,
  isOtherFormat,
  ofRightSamples,
  type SpeakingSide,
  type VoiceFinding,
  voiceFindings,
} from './voice-findings.ts';
import { type PaceVerdict, VoiceRate } from './voice-rate.ts';

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

/** A pause this long ends a reply. */
const replyPauseMs = 500;
/** After a shorter pause the same words may continue, so their end is not judged. */
const finalPauseMs = 1_500;

const samplesPerMs = bytesForMs(1) / bytesPerSample;

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
  private readonly options: VoiceCheckOptions;
  private readonly isService: boolean;
  private readonly own: LostTime;
  private readonly rate: VoiceRate;
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
  /** Whole milliseconds; −1 before the first message. */
  private lastAt = -1;
  /** The time lost by then, in whole milliseconds. */
  private lastLost = 0;
  private isOdd = false;

  constructor(options: VoiceCheckOptions) {
    const { from, clock, own = { lostMs: 0 }, isThorough } = options;
    this.options = options;
    this.isService = from === 'service';
    this.own = own;
    this.pcm = new PcmCheck({ isWhole: this.isService });
    this.level = new LatestLevel(clock);
    const { found, sounds } = this;
    this.rate = new VoiceRate({ from, clock, own, isThorough: isThorough === true, found, sounds });
  }

  /** For a message that is taken later. */
  arrival(): MessageArrival {
    const { lostMs, heldMs = 0 } = this.own;
    return { at: this.options.clock.now(), lostMs, heldMs };
  }

  /** Takes a message; returns new findings. `arrival`: if it did not arrive just now. */
  push(message: Buffer, arrival?: MessageArrival): readonly FoundInVoice[] {
    const now = arrival?.at ?? this.options.clock.now();
    const ms = Math.round(now);
    const lost = Math.round((arrival ?? this.own).lostMs);
    const pauseMs = this.pauseUntil(ms, lost);
    const ofPause =
      this.isService && this.lastAt >= 0 && pauseMs >= replyPauseMs
        ? this.endReply(pauseMs >= finalPauseMs)
        : nothing;
    this.lastAt = ms;
    this.lastLost = lost;
    this.level.measure(message);
    this.rate.push(message, now, arrival);
    this.heardAt.arrived(this.passed, message.length, now);
    const ofEcho = this.back === undefined ? nothing : this.hearEcho(message, now);
    const ofSound = this.hear(message);
    const ofSamples = this.pcm.push(message, ms);
    this.passed += message.length;
    const isOdd = message.length % 2 === 1;
    if (isOdd) this.isOdd = !this.isOdd;
    const isNewOdd = isOdd && !this.isService && !this.found.has('odd-sizes');
    const hasHeader = this.headers.push(message);
    if (ofSamples.length === 0 && !isNewOdd && !hasHeader && ofSound.length === 0 && ofEcho.length === 0)
      return this.reportable(ofPause);
    const findings: Found[] = [
      ...ofSamples,
      ...(hasHeader ? ['frame-header' as const] : []),
      ...(isNewOdd ? ['odd-sizes' as const] : []),
    ];
    const ofFindings = findings.flatMap((finding) => this.addFinding(finding));
    return this.reportable([...ofPause, ...ofFindings, ...ofEcho, ...ofSound]);
  }

  /** Records a finding from outside binary messages; returns it if it is new. */
  addFinding(finding: Found): readonly FoundInVoice[] {
    const remark = findingText(finding, this.options.from);
    if (remark === undefined || this.found.has(finding)) return nothing;
    this.found.add(finding);
    if (formatSizes[finding] !== undefined) this.rate.forget();
    return this.enter({ finding, remark, atMs: Math.round(msForBytes(this.passed)) });
  }

  /** The other side speaks: if a reply is arriving, its end is not judged. */
  stopped(): void {
    const isArriving = this.lastAt >= 0 && this.pauseUntil(this.options.clock.now()) < replyPauseMs;
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

  /** Whether it is time for `judgePace`. */
  get isDue(): boolean {
    return this.rate.isDue;
  }

  /**
   * The verdict on the recent pace if it has changed: the first one at once, each later one when it was seen twice, and
   * again when the voice itself reveals a different sample rate. If late messages make it uncertain, a longer time is judged.
   */
  judgePace(): VoiceVerdict | undefined {
    const news = this.rate.judge();
    return news && this.verdictOf(news, []);
  }

  /** The audio has ended: judges what could not be judged earlier. Returns new findings. */
  end(): readonly FoundInVoice[] {
    const now = Math.round(this.options.clock.now());
    const ofSamples = this.isService
      ? this.pcm.end(now).flatMap((finding) => this.addFinding(finding))
      : nothing;
    const isOver = this.pauseUntil(now) >= replyPauseMs;
    const ofReply = this.isService ? this.endReply(isOver) : this.endListening(false);
    if (this.listener) this.options.budget?.release();
    this.isOver = true;
    // A service that is interrupted may stop within a sample.
    const hasEnded = this.isService && this.isOdd && isOver;
    const found = [...ofSamples, ...(hasEnded ? this.addFinding('odd-sizes') : nothing), ...ofReply];
    if (!this.options.isThorough || this.isOtherFormat()) return this.reportable(found);
    this.rate.measureVoice();
    const isChanged = changesSound.some((kind) => this.sounds.has(kind));
    return this.reportable(this.isService && !isChanged ? [...found, ...this.rate.judgeVoice()] : found);
  }

  /** Returns news, and findings that were held back. Holds back findings in audio that comes from the other side. */
  private reportable(news: readonly FoundInVoice[]): readonly FoundInVoice[] {
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
    return this.rate.unjudged;
  }

  /** Whether the pace of the last reply shows that its rate is right. Without it only a voice that is far off shows a wrong one. */
  get isRateShown(): boolean {
    return this.rate.isShown;
  }

  /** Whether there is another explanation for the rate that was found in a service's audio. */
  get isRateDoubtful(): boolean {
    return this.rate.isDoubtful;
  }

  verdict(): VoiceVerdict {
    const certain = this.allJudgements().filter(({ is, kind }) => is === 'finding' && kind !== 'wrong-rate');
    return this.verdictOf(this.rate.verdict(), certain);
  }

  /** How long nothing has come, although this side was read. */
  private pauseUntil(now: number, lost = Math.round(this.own.lostMs)): number {
    return now - this.lastAt - (lost - this.lastLost);
  }

  private hear(message: Buffer): readonly FoundInVoice[] {
    if (this.listener === undefined) this.beginToListen();
    this.listener?.push(message);
    return this.reportHeard();
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
    this.listener = budget === undefined ? new Listener() : (budget.acquire() ?? null);
  }

  /** Takes what was heard and not yet reported. */
  private reportHeard(): readonly FoundInVoice[] {
    const heard = this.listener?.drain() ?? nothing;
    return heard.length === 0 ? nothing : heard.flatMap((one) => this.addHeard(one));
  }

  private addHeard({ kind, isCertain, at, length, figure }: HeardSound): readonly FoundInVoice[] {
    if (this.isMisread(kind)) return nothing;
    if (kind === 'narrow-band' && this.rate.isOfOtherPace) return nothing;
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

  /** Keeps a finding at a place. Returns it if it is news. */
  private enter(one: FoundInVoice & { atMs: number }): readonly FoundInVoice[] {
    const now = this.options.clock.now();
    const heardAt = this.heardAt.timeOf(one.atMs) ?? now;
    return this.sounds.add({ ...one, agoMs: Math.round(now - heardAt) });
  }

  /** Whether it was heard in samples that have another format. */
  private isMisread(finding: VoiceFinding): boolean {
    return voiceFindings[finding].about === 'sound' && this.isOtherFormat();
  }

  private endListening(byItself: boolean): readonly FoundInVoice[] {
    this.listener?.end({ byItself: byItself && !this.isStopped });
    this.isStopped = false;
    return this.reportHeard();
  }

  /** A reply or the stream has ended: now its rate is known, or never. */
  private endReply(byItself: boolean): readonly FoundInVoice[] {
    const ofRate = this.rate.judgeReply();
    const found = [...ofRate, ...this.endListening(byItself)];
    this.rate.restart();
    return found;
  }

  /** Whether the samples have another format, so that there is no voice to measure. */
  private isOtherFormat(): boolean {
    return isOtherFormat(this.found);
  }

  /** Causes before symptoms: the format of the samples, then their timing. */
  private verdictOf({ measure, judged }: PaceVerdict, found: readonly VoiceJudgement[]): VoiceVerdict {
    const { timesRealTime, meanJitterMs, longestGapMs, burstMessages } = measure;
    const [ofPace] = judged;
    const advice = found[0] === undefined ? ofPace && withAdvice(ofPace).advice : found[0].advice;
    return {
      ...(advice === undefined || advice === null ? {} : { advice }),
      pace: { timesRealTime, meanJitterMs, longestGapMs, burstMessages },
      findings: [...found.map(({ kind }) => kind), ...judged.map(({ finding }) => finding)],
      remarks: [...found.map(({ text }) => text), ...judged.map(({ remark }) => remark)],
    };
  }
}
