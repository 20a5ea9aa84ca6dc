import { msForBytes } from '../protocol/audio-format.ts';

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

/** Measures the pace of one device. */
export interface PaceCheck {
  push(bytes: number, now: number): void;
  report(): PaceReport;
}

/** The pace is told once this much time has passed. */
const shortestMs = 2_000;
/** Messages closer than this came together; a device that was held up may send so many at once. */
const togetherMs = 2;
const tolerated = 3;

export function createPaceCheck(): PaceCheck {
  let firstAt: number | undefined;
  let lastAt = 0;
  let lastMs = 0;
  let sentMs = 0;
  let messages = 0;
  let jitterMs = 0;
  let longestGapMs = 0;
  let together = 0;
  let burstMessages = 0;
  return {
    push(bytes, now) {
      if (firstAt === undefined) {
        firstAt = now;
      } else {
        const gapMs = now - lastAt;
        // What the last message held has been played when the next is due.
        sentMs += lastMs;
        jitterMs += Math.abs(gapMs - lastMs);
        longestGapMs = Math.max(longestGapMs, gapMs);
        together = gapMs < togetherMs ? together + 1 : 0;
        if (together > tolerated) burstMessages += 1;
      }
      messages += 1;
      lastAt = now;
      lastMs = msForBytes(bytes);
    },
    report() {
      const passedMs = lastAt - (firstAt ?? lastAt);
      return {
        timesRealTime: passedMs < shortestMs ? null : round(sentMs / passedMs),
        meanJitterMs: round(jitterMs / Math.max(1, messages - 1)),
        longestGapMs: round(longestGapMs),
        burstMessages,
      };
    },
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
