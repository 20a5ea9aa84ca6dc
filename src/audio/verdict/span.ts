import { msForBytes } from '../../protocol/audio-format.ts';

/** How a side sends over time. Milliseconds are on the machine's clock. */
export interface PaceReport {
  /** Sent audio divided by elapsed time: 1 is real time. Null before it is known. */
  timesRealTime: number | null;
  /** The mean difference between the time from one message to the next and the length of the first. */
  meanJitterMs: number;
  /** The longest time between two messages, without time in which the emulator itself did not run. */
  longestGapMs: number;
  /** Messages that arrived together in larger numbers than a delayed device sends at once. */
  burstMessages: number;
}

/** The report, with everything that is needed to judge it. */
export interface PaceMeasure extends PaceReport {
  /** Time from the first message to the last. */
  passedMs: number;
  /** How far off `timesRealTime` may be because messages arrived late: 0.02 is 2 %. */
  uncertainty: number;
  messages: number;
  /** The unrounded `timesRealTime`, even if it is not yet known well. */
  times: number;
  /** Whether the pace is constant: it is not if some audio comes at once, and the rest in real time. */
  isEven: boolean;
  /** The pace of the slower of two parts: audio that is kept back and then sent at once makes only one of them fast. */
  slowerPart: number;
  /** Time in which the emulator did not run. */
  lostMs: number;
  /** The sum of long delays of messages. */
  lateMs: number;
}

/** The pace is known after this time. */
const shortestMs = 2_000;
export const ticksPerMs = 100;
/** The time is first divided here, and then whenever it has doubled. */
const firstDivision = 500 * ticksPerMs;
/** How much the two measures of an even pace may differ. */
const evenWithin = 0.03;
/** A longer delay is an incident; a slow clock delays each message only a little. */
const lateTicks = 60 * ticksPerMs;

/** Indexes of `sums`. Fractions are in an array because each new one in a field would be allocated. */
const meanAudio = 0;
const meanTime = 1;
const audioAudio = 2;
const audioTime = 3;
/** The sum of the squared delays of late messages. */
const lateSquares = 4;

/** Sums over some time, in whole 10 µs: unlike fractions, whole numbers in fields need no allocation. */
export class Span {
  private startAt = 0;
  private messages = 0;
  private sentBytes = 0;
  private jitter = 0;
  private longestGap = 0;
  private longestLate = 0;
  private lateSum = 0;
  private burstMessages = 0;
  private lost = 0;
  /** The two latest places to divide the time at, and the audio before them; and when to take the next one. */
  private early = 0;
  private earlyBytes = 0;
  private middle = 0;
  private middleBytes = 0;
  private divideAt = firstDivision;
  private readonly sums = new Float64Array(5);

  /** Takes a message: the time since the previous one, how much of it the emulator did not run, and the previous one's size. */
  add(at: number, gap: number, lost: number, bytes: number): void {
    // A message is due when the audio of the previous one ends.
    const audio = Math.round(msForBytes(bytes) * ticksPerMs);
    if (at - this.startAt >= this.divideAt) this.divide(at - this.startAt, gap);
    this.sentBytes += bytes;
    this.jitter += Math.abs(gap - audio);
    this.lost += lost;
    if (gap - lost > this.longestGap) this.longestGap = gap - lost;
    const late = gap - audio;
    if (late > 0) this.addLateness(late);
    this.addArrival(at);
  }

  addBurst(messages: number): void {
    this.burstMessages += messages;
  }

  begin(at: number): void {
    this.startAt = at;
    this.messages = 0;
    this.sentBytes = 0;
    this.jitter = 0;
    this.longestGap = 0;
    this.longestLate = 0;
    this.lateSum = 0;
    this.burstMessages = 0;
    this.lost = 0;
    this.early = 0;
    this.earlyBytes = 0;
    this.middle = 0;
    this.middleBytes = 0;
    this.divideAt = firstDivision;
    this.sums.fill(0);
    this.addArrival(at);
  }

  report(lastAt: number): PaceMeasure {
    const passedMs = (lastAt - this.startAt) / ticksPerMs;
    const isKnown = passedMs >= shortestMs;
    const { times, uncertainty, isEven } = this.measure(passedMs);
    return {
      passedMs: round(passedMs),
      timesRealTime: isKnown ? round(times) : null,
      uncertainty: isKnown ? Math.round(uncertainty * 10_000) / 10_000 : 1,
      meanJitterMs: round(this.jitter / ticksPerMs / Math.max(1, this.messages - 1)),
      longestGapMs: round(this.longestGap / ticksPerMs),
      burstMessages: this.burstMessages,
      messages: this.messages,
      times,
      isEven,
      slowerPart: this.slowerPart(passedMs, times),
      lostMs: round(this.lost / ticksPerMs),
      lateMs: round(this.lateSum / ticksPerMs),
    };
  }

  /** Divides before a gap: what is sent after it to catch up belongs to the same part. */
  private divide(passed: number, gap: number): void {
    this.early = this.middle;
    this.earlyBytes = this.middleBytes;
    this.middle = passed - gap;
    this.middleBytes = this.sentBytes;
    while (this.divideAt <= passed) this.divideAt *= 2;
  }

  private slowerPart(passedMs: number, times: number): number {
    const isLate = 3 * this.middle > 2 * passedMs * ticksPerMs;
    const firstMs = (isLate ? this.early : this.middle) / ticksPerMs;
    if (firstMs === 0) return times;
    const bytes = isLate ? this.earlyBytes : this.middleBytes;
    return Math.min(msForBytes(bytes) / firstMs, msForBytes(this.sentBytes - bytes) / (passedMs - firstMs));
  }

  private addLateness(late: number): void {
    if (late > this.longestLate) this.longestLate = late;
    if (late > lateTicks) this.lateSum += late;
    const sums = this.sums;
    sums[lateSquares] = (sums[lateSquares] as number) + late * late;
  }

  /** Adds a point to the line of arrivals: how much audio came before this time. */
  private addArrival(at: number): void {
    const sums = this.sums;
    this.messages += 1;
    const audio = msForBytes(this.sentBytes);
    const time = (at - this.startAt) / ticksPerMs;
    const fromMean = audio - (sums[meanAudio] as number);
    sums[meanAudio] = (sums[meanAudio] as number) + fromMean / this.messages;
    sums[meanTime] = (sums[meanTime] as number) + (time - (sums[meanTime] as number)) / this.messages;
    sums[audioAudio] = (sums[audioAudio] as number) + fromMean * (audio - (sums[meanAudio] as number));
    sums[audioTime] = (sums[audioTime] as number) + fromMean * (time - (sums[meanTime] as number));
  }

  /**
   * Messages that arrive late, and then together, hide the pace. There are two measures of it: from the first to the last
   * message, wrong by at most the longest delay; or the line through all messages, whose slope n delays of d ms in T ms change
   * by about 3nd²/T². The better one counts.
   */
  private measure(passedMs: number): { times: number; uncertainty: number; isEven: boolean } {
    const sums = this.sums;
    const ofEnds = this.longestLate / ticksPerMs / passedMs;
    const ofLine = (3 * (sums[lateSquares] as number)) / (ticksPerMs * passedMs) ** 2;
    const ends = msForBytes(this.sentBytes) / passedMs;
    // There is no line if all messages are empty.
    if (ends === 0) return { times: 0, uncertainty: 0, isEven: true };
    const line = (sums[audioAudio] as number) / (sums[audioTime] as number);
    const isEven = Math.abs(line / ends - 1) < evenWithin;
    return ofLine < ofEnds
      ? { times: line, uncertainty: ofLine, isEven }
      : { times: ends, uncertainty: ofEnds, isEven };
  }
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
