import type { ReportSound } from './found-sounds.ts';
import { type Predicted, unexplained } from './prediction.ts';
import type { RecentAudio } from './recent-audio.ts';
import { levelBetween } from './voice-level.ts';

const most = 64;
/**
 * People click too, up to once a second; one in 320 is at the seam of two messages by chance. Smaller ones than `remarkable`
 * are ignored: no step that is neither at a seam nor spaced is above 4.6 in 284 clean voices, 193 of them recorded people.
 */
const certainAlone = 8;
const certainTwice = 4;
const remarkable = 5;
/** Clicks with equal spacing, with at most this many others between them. In a creaky voice the spacing is shorter. */
const shortestSpacing = 1_280;
const othersBetween = 2;
/** Quieter clicks are inaudible. On both sides of a click the sound must be within this range. */
const heardRangeDb = 25;
const soundRangeDb = 40;
const soundSamples = 80;
/** A run of one value this long is silence; sound within 20 ms after it is only beginning. */
const silentRun = 48;
const afterSilence = 320;

/** Decides which steps that prediction does not explain are clicks. */
export class ClickCheck {
  private readonly audio: RecentAudio;
  private readonly report: ReportSound;
  /**
   * The place and size of each click, the loudest voice in which it is audible, and whether it is at a seam (1) of messages.
   * The first ones have been judged.
   */
  private readonly places = new Float64Array(most);
  private readonly sizes = new Float64Array(most);
  private readonly levels = new Float64Array(most);
  private readonly seams = new Uint8Array(most);
  private count = 0;
  private judged = 0;

  constructor(audio: RecentAudio, report: ReportSound) {
    this.audio = audio;
    this.report = report;
  }

  /** Takes the result of prediction. */
  addPrediction({ at, times, dbov }: Predicted): void {
    if (times < unexplained || this.isAtSilence(at)) return;
    const place = this.audio.base + at;
    const isAtSeam = this.audio.isSeam(place);
    // Audio that is sent twice is reported as a repeat, or is almost silent.
    if (isAtSeam && this.audio.isRepeat(place)) return;
    const { samples } = this.audio;
    const before = levelBetween(samples, at - 4 - soundSamples, at - 4);
    const beside = Math.min(before, levelBetween(samples, at + 16, at + 16 + soundSamples));
    if (this.count === most) this.forgetOldest();
    this.places[this.count] = place;
    this.sizes[this.count] = times;
    this.levels[this.count] = Math.min(dbov + heardRangeDb, beside + soundRangeDb);
    this.seams[this.count] = Number(isAtSeam);
    this.count += 1;
  }

  /** Removes clicks at either end of this span, which explains them. */
  explain(from: number, to: number): void {
    let kept = this.judged;
    for (let index = this.judged; index < this.count; index += 1) {
      const place = this.places[index] as number;
      if (Math.abs(place - from) <= 2 || Math.abs(place - to) <= 2) continue;
      this.places[kept] = place;
      this.sizes[kept] = this.sizes[index] as number;
      this.levels[kept] = this.levels[index] as number;
      this.seams[kept] = this.seams[index] as number;
      kept += 1;
    }
    this.count = kept;
  }

  /** Judges the clicks before this place, in a voice with this level in dBov. */
  judge(until: number, loud: number): void {
    while (this.judged < this.count && (this.places[this.judged] as number) < until) {
      const last = this.judged;
      if ((this.levels[last] as number) < loud) {
        this.remove(last);
        continue;
      }
      this.judged += 1;
      const isCertain = this.isAtSeams(last) || this.isSpaced(last);
      if (!isCertain && (this.sizes[last] as number) < remarkable) continue;
      this.report({
        kind: 'click',
        isCertain,
        at: this.places[last] as number,
        length: 1,
        figure: { value: this.sizes[last] as number, unit: '× what is around it' },
      });
    }
  }

  private remove(index: number): void {
    for (const values of [this.places, this.sizes, this.levels, this.seams])
      values.copyWithin(index, index + 1, this.count);
    this.count -= 1;
  }

  private isAtSeams(last: number): boolean {
    if (this.seams[last] === 0) return false;
    if ((this.sizes[last] as number) >= certainAlone) return true;
    let clear = 0;
    for (let index = 0; index <= last; index += 1)
      if (this.seams[index] === 1 && (this.sizes[index] as number) >= certainTwice) clear += 1;
    return clear >= 2;
  }

  private isSpaced(last: number): boolean {
    const end = this.places[last] as number;
    for (let middle = last - 1; middle > 0 && last - middle <= othersBetween + 1; middle -= 1) {
      const spacing = end - (this.places[middle] as number);
      if (spacing < shortestSpacing) continue;
      for (let first = middle - 1; first >= 0 && last - first <= othersBetween + 2; first -= 1)
        if (Math.abs((this.places[middle] as number) - (this.places[first] as number) - spacing) <= 1)
          return true;
    }
    return false;
  }

  private forgetOldest(): void {
    const half = most / 2;
    this.places.copyWithin(0, half);
    this.sizes.copyWithin(0, half);
    this.levels.copyWithin(0, half);
    this.seams.copyWithin(0, half);
    this.count = half;
    this.judged = Math.max(0, this.judged - half);
  }

  private isAtSilence(at: number): boolean {
    const { samples, count } = this.audio;
    const end = Math.min(count, at + silentRun + 16);
    let run = 0;
    for (let place = Math.max(1, at - afterSilence - silentRun); place < end; place += 1) {
      run = samples[place] === samples[place - 1] ? run + 1 : 0;
      if (run >= silentRun - 1) return true;
    }
    return false;
  }
}
