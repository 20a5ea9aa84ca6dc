import { BandCheck, bandSamples } from './band-check.ts';
import { ClickCheck } from './click-check.ts';
import { DropoutCheck, shortestDropout } from './dropout-check.ts';
import { FlatTops } from './flat-tops.ts';
import type { HeardSound, SoundKind } from './found-sounds.ts';
import { predict, predictionMargin } from './prediction.ts';
import { RecentAudio } from './recent-audio.ts';
import { type Repeat, RepeatCheck } from './repeat-check.ts';
import { endSamples, isCutOff, isCutOn } from './speech-end.ts';
import { ActiveLevel, LevelCounts, meanSquareDb } from './voice-level.ts';

/** Measurements of a voice. Null: not known, because it is too short, has no pauses, or is not speech. */
export interface VoiceMeasures {
  /** The levels of speech and of pauses in dBov: a full-scale sine is −3. */
  activeDbov: number | null;
  floorDbov: number | null;
  /** The highest frequency with sound. */
  bandwidthHz: number | null;
}

/** Samples in a block, and samples that must be known after it: it is judged a little more than 20 ms late. */
const block = 320;
const blockMs = 20;
const ahead = predictionMargin;
/** Clicks are judged this many samples later, because a repeat may explain them. */
const clickDelay = 9_600;
/**
 * Speech lasts this long, its neighbouring samples are alike, and its sounds and levels vary. The minima of 880 recordings are
 * 0.36 (whisper), 0.16 and 4.7 dB; white noise has 0, 0.05 and 0.2 dB.
 */
const leastSpeechMs = 1_000;
/** Audio that is not speech after this much sound is no longer searched for repeats. */
const mostUnknownMs = 5 * leastSpeechMs;
const leastMean = 0.2;
const leastSpread = 0.1;
const leastSpreadDb = 2.5;
const mostAlike = 0.9999;
const activeRangeDb = 20;
/** Repeats are reported within this range: quieter ones may be the noise of a pause, and only explain clicks. */
const repeatRangeDb = 12;
const searchRangeDb = 35;
/** No voice is fainter: headsets record at −56 dBov. */
const faintestDbov = -60;
/** A voice without pauses between replies is judged at this interval. */
const sectionBlocks = 500;
/** Limits of the level of a voice, of its change between replies, and of speech above the floor. */
const quietDbov = -36;
const loudDbov = -12;
const jumpDb = 10;
const noisyDb = 20;
const veryNoisyDb = 10;
/** How many sounds wait until it is known whether the audio is speech. */
const mostUnreported = 64;
const nothing: readonly HeardSound[] = [];

/**
 * Listens to a voice in blocks of 20 ms, and judges how it sounds. A class with whole numbers, because every frame passes
 * through it: see ARCHITECTURE.md.
 */
export class Listener {
  private readonly audio = new RecentAudio();
  /** Indexes in the kept samples: where the next block begins, and where the current run of one value began. */
  private next = 0;
  private runFrom = 0;
  /** The first byte of a split sample; −1 if there is none. */
  private half = -1;
  private readonly section = new ActiveLevel();
  private readonly whole = new ActiveLevel();
  private readonly bands = new BandCheck();
  private readonly tops = new FlatTops();
  private readonly repeats = new RepeatCheck();
  private readonly repeated: Repeat[] = [];
  private readonly clicks: ClickCheck;
  private readonly dropouts: DropoutCheck;
  private readonly sectionLevels = new LevelCounts();
  /** Of this section and the previous one of the same reply, because the last section of a reply may be short. */
  private readonly recentLevels = new LevelCounts();
  private readonly levels = new LevelCounts();
  /** Of active blocks: the likeness of neighbouring samples, and the level. */
  private readonly likeness = new Spread();
  private readonly loudness = new Spread();
  private activeBlocks = 0;
  private blocks = 0;
  /** The level of the voice, in whole dBov. */
  private loud = faintestDbov;
  /** The places where the reply and the section began. */
  private replyAt = 0;
  private sectionAt = 0;
  private sectionBegan = 0;
  /** Whether a section of the reply was judged, and the level of the first section of the previous reply. */
  private isReplyJudged = false;
  private before: number | undefined;
  /** Whether the level of the reply differs from the previous one. */
  private hasJumped = false;
  private isSpeech = false;
  private bandwidthHz: number | undefined;
  private heard: HeardSound[] = [];

  constructor() {
    const report = (heard: HeardSound) => this.keep(heard);
    this.clicks = new ClickCheck(this.audio, report);
    this.dropouts = new DropoutCheck(this.audio, report);
  }

  /** Takes a message of 16-bit samples, which may begin and end within a sample. */
  push(message: Buffer): void {
    this.audio.markSeam();
    let at = 0;
    if (this.half >= 0 && message.length > 0) {
      this.add((((message[0] as number) << 24) >> 16) | this.half);
      this.half = -1;
      at = 1;
    }
    for (; at + 1 < message.length; at += 2)
      this.add((((message[at + 1] as number) << 24) >> 16) | (message[at] as number));
    if (at < message.length) this.half = message[at] as number;
  }

  /** What was heard since the last call, once the audio is known to be speech. */
  drain(): readonly HeardSound[] {
    if (!this.isSpeech || this.heard.length === 0) return nothing;
    const heard = this.heard;
    this.heard = [];
    return heard;
  }

  /** A reply, or the audio, has ended. `byItself`: nobody stopped it, so its end is judged. */
  end({ byItself }: { byItself: boolean }): void {
    const { base, count } = this.audio;
    this.dropouts.look();
    this.judgeSection();
    this.clicks.judge(base + count, this.loud);
    if (byItself && this.isSpeech && count >= endSamples) this.judgeEnd();
    // The rest of a reply that was judged does not belong to the next one.
    if (this.isReplyJudged) {
      this.beginSection();
      this.recentLevels.clear();
    }
    this.isReplyJudged = false;
    this.hasJumped = false;
    this.interrupted();
    this.replyAt = base + count;
    this.sectionAt = this.replyAt;
  }

  /** The service drops what was not heard, and may say the same again. */
  interrupted(): void {
    this.repeats.separate(this.audio.base + this.audio.count);
  }

  measures(): VoiceMeasures {
    const level = this.isSpeech ? this.whole.read() : undefined;
    return {
      activeDbov: level === undefined ? null : Math.round(level.dbov * 10) / 10,
      floorDbov: level === undefined ? null : (this.levels.floor ?? null),
      bandwidthHz: (this.isSpeech ? (this.bands.read() ?? this.bandwidthHz) : undefined) ?? null,
    };
  }

  /** Why the voice was not judged; undefined if it was. */
  get unjudged(): string | undefined {
    return this.isSpeech ? undefined : 'less than a second of speech';
  }

  private add(sample: number): void {
    const { audio } = this;
    const dropped = audio.makeRoom();
    this.next -= dropped;
    this.runFrom = Math.max(0, this.runFrom - dropped);
    const at = audio.count;
    audio.add(sample);
    if (at > 0 && sample !== audio.samples[at - 1]) {
      if (at - this.runFrom >= 3) this.judgeRun(this.runFrom, at);
      this.runFrom = at;
    }
    if (at + 1 >= this.next + block + ahead) this.judgeBlock();
  }

  /** A run of one value: silence, or the top of a wave. */
  private judgeRun(from: number, to: number): void {
    if (to - from >= shortestDropout) {
      this.dropouts.addRun(from, to);
      return;
    }
    const { samples, base } = this.audio;
    const value = samples[from] as number;
    const isTop = value > 0 ? Math.max : Math.min;
    const beside = isTop(samples[Math.max(0, from - 1)] as number, samples[to] as number);
    if (value !== beside && isTop(value, beside) === value) this.tops.top(value, base + from);
  }

  private judgeBlock(): void {
    const { samples, base } = this.audio;
    const from = this.next;
    const to = from + block;
    let sum = 0;
    let squares = 0;
    let highest = samples[from] as number;
    let lowest = highest;
    for (let at = from; at < to; at += 1) {
      const sample = samples[at] as number;
      sum += sample;
      squares += sample * sample;
      if (sample > highest) highest = sample;
      else if (sample < lowest) lowest = sample;
    }
    this.next = to;
    this.blocks += 1;
    this.tops.peak(highest, lowest);
    this.section.push(samples, from, to);
    this.whole.push(samples, from, to);
    // A DC offset is inaudible: it is not the noise of a pause.
    const dbov = meanSquareDb(squares / block - (sum / block) ** 2);
    const isConstant = highest === lowest;
    this.sectionLevels.add(isConstant, dbov);
    this.recentLevels.add(isConstant, dbov);
    this.levels.add(isConstant, dbov);
    if (this.blocks % 16 === 1) {
      this.loud = Math.max(faintestDbov, Math.round(this.whole.read()?.dbov ?? dbov));
      this.judgeRepeats();
    }
    this.dropouts.look();
    if (!isConstant && dbov >= this.loud - activeRangeDb) this.judgeActive(from, dbov);
    if (!isConstant && dbov >= this.loud - searchRangeDb) this.searchRepeats(from);
    if (this.isSpeech) {
      this.judgeRepeats();
      this.clicks.judge(base + to - clickDelay, this.loud);
    }
    if (this.blocks - this.sectionBegan >= sectionBlocks) this.judgeSection();
  }

  private judgeActive(from: number, dbov: number): void {
    const { audio } = this;
    this.activeBlocks += 1;
    if (from >= predictionMargin) {
      const predicted = predict(audio.samples, from);
      this.recogniseSpeech(predicted.likeness, dbov);
      this.clicks.addPrediction(predicted);
    }
    if (this.activeBlocks % 2 === 0 && from + bandSamples <= audio.count)
      this.bands.push(audio.samples, from);
  }

  private searchRepeats(from: number): void {
    if (!this.isSpeech && this.activeBlocks * blockMs > mostUnknownMs) return;
    for (let part = from; part < from + block; part += block / 2) this.judgeRepeat(part);
  }

  private judgeRepeat(from: number): void {
    const { samples, base, count } = this.audio;
    const repeat = this.repeats.push(samples, { from, to: from + block / 2, end: count, base });
    if (repeat === undefined) return;
    this.clicks.explain(repeat.at, repeat.at + repeat.length);
    if (!repeat.isSteady && this.repeated.length < mostUnreported) this.repeated.push(repeat);
  }

  /** Reports repeats, but only in speech: editing software copies the silence between words. */
  private judgeRepeats(): void {
    if (!this.isSpeech || this.repeated.length === 0) return;
    for (const { at, length, dbov } of this.repeated.splice(0))
      if (dbov >= this.loud - repeatRangeDb)
        this.report('repeat', { at, length, isCertain: true, value: length / 16, unit: 'ms' });
  }

  /** Speech is recognised by changes of its sounds and its level. */
  private recogniseSpeech(likeness: number, dbov: number): void {
    // In telephone audio neighbouring samples are very alike, so the distance from 1 counts.
    this.likeness.add(Math.atanh(Math.min(mostAlike, likeness)));
    this.loudness.add(dbov);
    if (this.isSpeech || this.activeBlocks * blockMs < leastSpeechMs) return;
    this.isSpeech =
      this.likeness.mean >= leastMean &&
      this.likeness.deviation >= leastSpread &&
      this.loudness.deviation >= leastSpreadDb;
  }

  /** Judges a reply, or ten seconds of a voice, as a whole. If there is less than a second of speech, waits for more. */
  private judgeSection(): void {
    this.judgeRepeats();
    // Noise in the pauses of another reply is not the floor of this one.
    this.dropouts.judge(this.loud, this.recentLevels.hasFloor);
    const level = this.section.read();
    if (!this.isSpeech || level === undefined || level.activeMs < leastSpeechMs) return;
    this.judgeTops();
    this.judgeLevel(level.dbov);
    this.judgeBand();
    this.beginSection();
    this.isReplyJudged = true;
  }

  private beginSection(): void {
    this.section.clear();
    this.recentLevels.copy(this.sectionLevels);
    this.sectionLevels.clear();
    this.sectionAt = this.audio.base + this.audio.count;
    this.sectionBegan = this.blocks;
  }

  private judgeTops(): void {
    const count = this.tops.read();
    const { firstAt: at, lastAt } = this.tops;
    const length = lastAt + 1 - at;
    if (count > 0) this.report('clipping', { isCertain: true, at, length, value: count, unit: 'flat tops' });
    this.tops.clear();
  }

  private judgeLevel(dbov: number): void {
    const at = this.sectionAt;
    const length = this.audio.base + this.audio.count - at;
    const span = { at, length, isCertain: false };
    if (!this.isReplyJudged) this.judgeJump(span, dbov);
    // A jump explains the level of its own reply, but not of all others.
    const isSteady = !this.hasJumped;
    if (isSteady && dbov < quietDbov) this.report('quiet-voice', { ...span, value: dbov, unit: 'dBov' });
    if (isSteady && dbov > loudDbov) this.report('loud-voice', { ...span, value: dbov, unit: 'dBov' });
    const above = dbov - (this.sectionLevels.floor ?? -100);
    if (above < noisyDb)
      this.report('noise', { ...span, isCertain: above < veryNoisyDb, value: above, unit: 'dB' });
  }

  private judgeJump(span: Pick<PlacedFigure, 'at' | 'length' | 'isCertain'>, dbov: number): void {
    const change = this.before === undefined ? 0 : dbov - this.before;
    this.hasJumped = Math.abs(change) >= jumpDb;
    if (this.hasJumped) this.report('level-jump', { ...span, value: change, unit: 'dB' });
    this.before = dbov;
  }

  private judgeBand(): void {
    this.bandwidthHz = this.bands.read();
    if (this.bandwidthHz === undefined) return;
    const at = this.sectionAt;
    const length = this.audio.base + this.audio.count - at;
    if (this.bands.isNarrow)
      this.report('narrow-band', { isCertain: false, at, length, value: this.bandwidthHz, unit: 'Hz' });
    this.bands.clear();
  }

  private judgeEnd(): void {
    const { samples, base, count } = this.audio;
    const levels = { loud: this.loud, floor: this.levels.floor ?? -100 };
    const at = this.replyAt - base;
    if (at >= 0 && at + endSamples <= count && isCutOn(samples, at, levels))
      this.report('cut-on', { isCertain: false, at: this.replyAt, length: 160, value: 10, unit: 'ms' });
    if (isCutOff(samples, count, levels))
      this.report('cut-off', {
        isCertain: true,
        at: base + count - block,
        length: block,
        value: 20,
        unit: 'ms',
      });
  }

  private report(kind: SoundKind, placed: PlacedFigure): void {
    const { isCertain, at, length, value, unit } = placed;
    this.keep({ kind, isCertain, at, length, figure: { value, unit } });
  }

  private keep(heard: HeardSound): void {
    if (this.isSpeech || this.heard.length < mostUnreported) this.heard.push(heard);
  }
}

type PlacedFigure = Pick<HeardSound, 'isCertain' | 'at' | 'length'> & HeardSound['figure'];

/** The mean of values, and their deviation from it. */
class Spread {
  private readonly sums = new Float64Array(3);

  add(value: number): void {
    const { sums } = this;
    const count = (sums[0] as number) + 1;
    const off = value - (sums[1] as number);
    sums[0] = count;
    sums[1] = (sums[1] as number) + off / count;
    sums[2] = (sums[2] as number) + off * (value - (sums[1] as number));
  }

  get mean(): number {
    return this.sums[1] as number;
  }

  get deviation(): number {
    return Math.sqrt((this.sums[2] as number) / Math.max(1, this.sums[0] as number));
  }
}
