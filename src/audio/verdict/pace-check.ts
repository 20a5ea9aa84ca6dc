import { msForBytes } from '../../protocol/audio-format.ts';

/** How a device sends, in time. Milliseconds are of the machine's clock. */
export interface PaceReport {
  /** Audio sent over time passed: 1 is real time. Null before it can be told. */
  timesRealTime: number | null;
  /** How far, on average, the time between two messages was from the audio in the first. */
  meanJitterMs: number;
  /** Longest time between two messages. */
  longestGapMs: number;
  /** Messages that came on the heels of another, more than a device has reason to send at once. */
  burstMessages: number;
}

/** The pace is told once this much time has passed. */
const shortestMs = 2_000;
/** Messages closer than this came together; a device that was held up may send so many at once. */
const togetherMs = 2;
const tolerated = 3;
const ticksPerMs = 100;

/**
 * Measures the pace of one device. Times are kept in whole 10 µs: whole numbers are part of their object, and a fraction
 * is an object of its own.
 */
export class PaceCheck {
  private messages = 0;
  private firstAt = 0;
  private lastAt = 0;
  private lastBytes = 0;
  private sentBytes = 0;
  private jitter = 0;
  private longestGap = 0;
  private together = 0;
  private burstMessages = 0;

  /** Takes the length of a message that came at `now`, in milliseconds. */
  push(bytes: number, now: number): void {
    const at = Math.round(now * ticksPerMs);
    if (this.messages === 0) {
      this.firstAt = at;
    } else {
      const gap = at - this.lastAt;
      // What the last message held has been played when the next is due.
      this.sentBytes += this.lastBytes;
      this.jitter += Math.abs(gap - Math.round(msForBytes(this.lastBytes) * ticksPerMs));
      if (gap > this.longestGap) this.longestGap = gap;
      this.together = gap < togetherMs * ticksPerMs ? this.together + 1 : 0;
      if (this.together > tolerated) this.burstMessages += 1;
    }
    this.messages += 1;
    this.lastAt = at;
    this.lastBytes = bytes;
  }

  report(): PaceReport {
    const passedMs = (this.lastAt - this.firstAt) / ticksPerMs;
    return {
      timesRealTime: passedMs < shortestMs ? null : round(msForBytes(this.sentBytes) / passedMs),
      meanJitterMs: round(this.jitter / ticksPerMs / Math.max(1, this.messages - 1)),
      longestGapMs: round(this.longestGap / ticksPerMs),
      burstMessages: this.burstMessages,
    };
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
