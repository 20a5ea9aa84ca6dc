import { msForBytes } from '../../protocol/audio-format.ts';

/** How a device sends, in time. Milliseconds are of the machine's clock. */
export interface PaceReport {
  /** Sent audio divided by elapsed time: 1 is real time. Null before it is known. */
  timesRealTime: number | null;
  /** Mean difference between the time from one message to the next, and the audio in the first. */
  meanJitterMs: number;
  /** Longest time between two messages. */
  longestGapMs: number;
  /** Messages that arrived together with others, beyond the number that a delayed device sends at once. */
  burstMessages: number;
}

/** The pace is known after this time. */
const shortestMs = 2_000;
/** Messages closer than this arrived together. A delayed device may send so many at once. */
const togetherMs = 2;
const tolerated = 3;
const ticksPerMs = 100;

/** Sums over some time, in whole 10 µs: unlike fractions, whole numbers in objects need no allocation. */
class Span {
  startAt = 0;
  gaps = 0;
  sentBytes = 0;
  jitter = 0;
  longestGap = 0;
  burstMessages = 0;

  add(gap: number, bytes: number, isBurst: boolean): void {
    this.gaps += 1;
    // The next message is due when the audio of the last one is over.
    this.sentBytes += bytes;
    this.jitter += Math.abs(gap - Math.round(msForBytes(bytes) * ticksPerMs));
    if (gap > this.longestGap) this.longestGap = gap;
    if (isBurst) this.burstMessages += 1;
  }

  begin(at: number): void {
    this.startAt = at;
    this.gaps = 0;
    this.sentBytes = 0;
    this.jitter = 0;
    this.longestGap = 0;
    this.burstMessages = 0;
  }

  report(lastAt: number): PaceReport {
    const passedMs = (lastAt - this.startAt) / ticksPerMs;
    return {
      timesRealTime: passedMs < shortestMs ? null : round(msForBytes(this.sentBytes) / passedMs),
      meanJitterMs: round(this.jitter / ticksPerMs / Math.max(1, this.gaps)),
      longestGapMs: round(this.longestGap / ticksPerMs),
      burstMessages: this.burstMessages,
    };
  }
}

/** Measures the pace of one device: over the whole stream, and recently. */
export class PaceCheck {
  private isFirst = true;
  private lastAt = 0;
  private lastBytes = 0;
  private together = 0;
  private readonly whole = new Span();
  private readonly latest = new Span();

  /** Takes the length of a message that arrived at `now`, in milliseconds. */
  push(bytes: number, now: number): void {
    const at = Math.round(now * ticksPerMs);
    if (this.isFirst) {
      this.isFirst = false;
      this.whole.begin(at);
      this.latest.begin(at);
    } else {
      const gap = at - this.lastAt;
      this.together = gap < togetherMs * ticksPerMs ? this.together + 1 : 0;
      const isBurst = this.together > tolerated;
      this.whole.add(gap, this.lastBytes, isBurst);
      this.latest.add(gap, this.lastBytes, isBurst);
    }
    this.lastAt = at;
    this.lastBytes = bytes;
  }

  report(): PaceReport {
    return this.whole.report(this.lastAt);
  }

  /** The report on the time since the previous call. */
  takeLatest(): PaceReport {
    const report = this.latest.report(this.lastAt);
    this.latest.begin(this.lastAt);
    return report;
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
