import { atTurnEnd, type Clock, waitUntil } from '../../kernel/clock.ts';

/** Timers of the machine are whole milliseconds, and may be early by one. */
const timerMs = 1;
/** Arrivals that are closer on average leave no time to wait for each turn by turn: that takes half a millisecond of the core. */
const closeMs = 5;
/** The average is that of about this many arrivals. */
const averaged = 10;

/**
 * Waits for one arrival after the other, and is never early. A timer alone is 0.7 ms late on average, which would be a
 * part of each time of a token: where arrivals are rare, the last millisecond is waited for turn by turn of the event loop.
 */
export function startArrivals(clock: Clock, signal: AbortSignal) {
  let before: number | undefined;
  let apartMs = closeMs;
  /** Returns whether the moment has come; false if the signal has ended the wait. */
  return async (due: number): Promise<boolean> => {
    if (before !== undefined) apartMs += (due - before - apartMs) / averaged;
    before = due;
    for (let left = due - clock.now(); left > 0 && !signal.aborted; left = due - clock.now()) {
      if (apartMs >= closeMs && left < timerMs)
        await new Promise<void>((resolve) => atTurnEnd(resolve, undefined));
      else await waitUntil(clock, due, signal).catch(() => {});
    }
    return !signal.aborted;
  };
}
