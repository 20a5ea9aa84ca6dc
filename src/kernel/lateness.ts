import { type Clock, repeat } from './clock.ts';

const everyMs = 50;

/** Notices that this process did not run for a while because it was stopped or the machine was busy. */
export interface Lateness {
  /** Checks now. After a pause sockets may be read before timers run. */
  look(): void;
  stop(): void;
}

/**
 * Checks the clock every 50 ms, and calls `onLate` with the milliseconds by which a check was late, and with the milliseconds since
 * the previous check.
 */
export function watchLateness(clock: Clock, onLate: (lateMs: number, sinceLookMs: number) => void): Lateness {
  let lookedAt = clock.now();
  let due = lookedAt + everyMs;
  const look = () => {
    const now = clock.now();
    const sinceLookMs = now - lookedAt;
    lookedAt = now;
    if (now <= due) return;
    const lateMs = now - due;
    due = now + everyMs;
    onLate(lateMs, sinceLookMs);
  };
  const timer = repeat(clock, everyMs, () => {
    look();
    due = clock.now() + everyMs;
  });
  return { look, stop: () => timer.cancel() };
}

/** A shorter pause changes no verdict. */
const shortestPauseMs = 300;
/** Maximum number of pauses that are kept; beyond it the oldest are dropped. */
const maxPauses = 1_000;

/** The pauses in which this process did not run. */
export interface OwnPauses {
  /** How long the longest one was between two times, in milliseconds; 0 if there was none. */
  longestMs(from: number, until?: number): number;
  /** When the last one ended; −∞ if there was none. */
  readonly lastUntil: number;
  /** How long all of them were together, so far. */
  readonly totalMs: number;
  stop(): void;
}

export function watchOwnPauses(clock: Clock): OwnPauses {
  const pauses: { until: number; ms: number }[] = [];
  let totalMs = 0;
  const lateness = watchLateness(clock, (lateMs) => {
    if (lateMs < shortestPauseMs) return;
    totalMs += lateMs;
    pauses.push({ until: clock.now(), ms: lateMs });
    if (pauses.length > maxPauses) pauses.shift();
  });
  return {
    longestMs(from, until = Number.POSITIVE_INFINITY) {
      // A pause that has just ended may not have been noticed yet.
      lateness.look();
      return Math.max(
        0,
        ...pauses.map((pause) => Math.min(pause.until, until) - Math.max(pause.until - pause.ms, from)),
      );
    },
    get lastUntil() {
      lateness.look();
      return pauses.at(-1)?.until ?? Number.NEGATIVE_INFINITY;
    },
    get totalMs() {
      lateness.look();
      return totalMs;
    },
    stop: lateness.stop,
  };
}

/** Why a figure is not judged: a pause of this process may have changed it. */
export function pausedText(measured: string, pausedMs: number): string {
  return `not judged: ${measured}, but this process did not run for ${Math.round(pausedMs)} ms`;
}
