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
  // In an object: a fraction in a variable of a closure is allocated anew each time that it changes.
  const state = {
    messages: 0,
    firstAt: Number.NaN,
    lastAt: Number.NaN,
    lastMs: Number.NaN,
    sentMs: Number.NaN,
    jitterMs: Number.NaN,
    longestGapMs: Number.NaN,
    together: 0,
    burstMessages: 0,
  };
  return {
    push(bytes, now) {
      if (state.messages === 0) {
        state.firstAt = now;
        state.sentMs = 0;
        state.jitterMs = 0;
        state.longestGapMs = 0;
      } else {
        const gapMs = now - state.lastAt;
        // What the last message held has been played when the next is due.
        state.sentMs += state.lastMs;
        state.jitterMs += Math.abs(gapMs - state.lastMs);
        if (gapMs > state.longestGapMs) state.longestGapMs = gapMs;
        state.together = gapMs < togetherMs ? state.together + 1 : 0;
        if (state.together > tolerated) state.burstMessages += 1;
      }
      state.messages += 1;
      state.lastAt = now;
      state.lastMs = msForBytes(bytes);
    },
    report() {
      const { messages, firstAt, lastAt, sentMs, jitterMs, longestGapMs, burstMessages } = state;
      if (messages === 0) return { timesRealTime: null, meanJitterMs: 0, longestGapMs: 0, burstMessages: 0 };
      const passedMs = lastAt - firstAt;
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
