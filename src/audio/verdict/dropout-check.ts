import { sampleRate } from '../../protocol/audio-format.ts';
import type { ReportSound } from './found-sounds.ts';
import { jumpSamples, measureJump } from './prediction.ts';
import type { RecentAudio } from './recent-audio.ts';
import { levelBetween } from './voice-level.ts';

/** 3 to 200 ms of one value. */
export const shortestDropout = 48;
const longestDropout = 3_200;
/** The audio on both sides, measured over 10 ms, must be within this range of the level of the voice. */
const besideSamples = 160;
const audibleRangeDb = 25;
/** Two within this time are not chance. */
const together = 10 * sampleRate;
/** Speech that becomes silent by itself jumps by less than 0.7; three of four cuts jump by more than this. */
const cutJump = 1.5;
const mostWaiting = 8;
const most = 64;

/** Finds missing audio within speech. */
export class DropoutCheck {
  private readonly audio: RecentAudio;
  private readonly report: ReportSound;
  /** The place and length of runs that wait for the audio after them. */
  private readonly waiting = new Float64Array(2 * mostWaiting);
  private waitingCount = 0;
  /** The place and length of each dropout, the level beside it, and whether it is cut at a seam (2), or elsewhere (1). */
  private readonly found = new Float64Array(4 * most);
  private count = 0;
  private reported = 0;

  constructor(audio: RecentAudio, report: ReportSound) {
    this.audio = audio;
    this.report = report;
  }

  /** Takes a run of one value of at least `shortestDropout` samples. */
  addRun(from: number, to: number): void {
    if (to - from > longestDropout || this.waitingCount === mostWaiting) return;
    this.waiting[2 * this.waitingCount] = this.audio.base + from;
    this.waiting[2 * this.waitingCount + 1] = to - from;
    this.waitingCount += 1;
  }

  /** Looks at the runs that are followed by enough audio. */
  look(): void {
    const { base, count } = this.audio;
    while (this.waitingCount > 0) {
      const from = (this.waiting[0] as number) - base;
      const length = this.waiting[1] as number;
      if (from + length + jumpSamples > count) return;
      this.waitingCount -= 1;
      this.waiting.copyWithin(0, 2);
      if (from >= jumpSamples) this.keep(from, length);
    }
  }

  /** Judges what was found, in a voice with this level in dBov. `hasFloor`: its pauses are not digital silence. */
  judge(loud: number, hasFloor: boolean): void {
    while (this.reported < this.count) {
      const index = this.reported;
      this.reported += 1;
      const place = this.found[4 * index] as number;
      const length = this.found[4 * index + 1] as number;
      if (!this.isOdd(index, loud, hasFloor)) continue;
      const isCertain = this.hasCompany(index, loud, hasFloor);
      this.report({
        kind: 'dropout',
        isCertain,
        at: place,
        length,
        figure: { value: (length / sampleRate) * 1_000, unit: 'ms' },
      });
    }
    if (this.count > most / 2) this.forgetOldest();
  }

  private forgetOldest(): void {
    const half = most / 2;
    this.found.copyWithin(0, 4 * half);
    this.count -= half;
    this.reported -= half;
  }

  private keep(from: number, length: number): void {
    if (this.count === most) return;
    const to = from + length;
    const beside = Math.min(this.levelOf(from - besideSamples), this.levelOf(to));
    const { samples, base } = this.audio;
    const isCut = measureJump(samples, from, 1) >= cutJump || measureJump(samples, to - 1, -1) >= cutJump;
    const isAtSeam = this.audio.isSeam(base + from) || this.audio.isSeam(base + to);
    this.found[4 * this.count] = base + from;
    this.found[4 * this.count + 1] = length;
    this.found[4 * this.count + 2] = beside;
    this.found[4 * this.count + 3] = Number(isCut) + Number(isCut && isAtSeam);
    this.count += 1;
  }

  /** The level of the quieter half, so that a click does not count as audio. */
  private levelOf(from: number): number {
    const { samples } = this.audio;
    const middle = from + besideSamples / 2;
    return Math.min(levelBetween(samples, from, middle), levelBetween(samples, middle, from + besideSamples));
  }

  /** Whether there is audible audio on both sides, and the voice itself does not explain it. */
  private isOdd(index: number, loud: number, hasFloor: boolean): boolean {
    const isBetween = (this.found[4 * index + 2] as number) >= loud - audibleRangeDb;
    return isBetween && (hasFloor || (this.found[4 * index + 3] as number) > 0);
  }

  /** Whether it is certain, because there is another one. */
  private hasCompany(index: number, loud: number, hasFloor: boolean): boolean {
    const isProof = (one: number) =>
      this.isOdd(one, loud, hasFloor) && (hasFloor || (this.found[4 * one + 3] as number) === 2);
    if (!isProof(index)) return false;
    for (let other = 0; other < this.count; other += 1) {
      const apart = Math.abs((this.found[4 * other] as number) - (this.found[4 * index] as number));
      if (other !== index && apart <= together && isProof(other)) return true;
    }
    return false;
  }
}
