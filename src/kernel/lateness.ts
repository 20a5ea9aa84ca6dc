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
