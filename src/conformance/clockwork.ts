import { type Clock, waitUntil } from '../kernel/clock.ts';

/** Time for a run: that of the machine, or that of an emulator whose clock is moved in place of waiting. */
export interface Clockwork {
  /** For those who speak with the service: timestamps follow moved time, deadlines the machine's. */
  readonly clock: Clock;
  readonly isMoved: boolean;
  /** Passes time until the monotonic moment `at`. */
  pass(at: number, signal: AbortSignal): Promise<void>;
}

/** Waits. */
export function createRealClockwork(clock: Clock): Clockwork {
  return { clock, isMoved: false, pass: (at, signal) => waitUntil(clock, at, signal) };
}

export interface MovedClockworkOptions {
  base: Clock;
  /** How far the emulator's clock is ahead of the machine's at the start. */
  aheadMs: number;
  /** Moves the emulator's clock. */
  advance(ms: number): Promise<void>;
}

/** Moves the emulator's clock where another one waits. */
export function createMovedClockwork({ base, aheadMs, advance }: MovedClockworkOptions): Clockwork {
  let moved = 0;
  const clock: Clock = {
    now: () => base.now() + moved,
    wall: () => base.wall() + aheadMs + moved,
    after: (ms, call, options) => base.after(ms, call, options),
  };
  return {
    clock,
    isMoved: true,
    async pass(at) {
      const ms = at - clock.now();
      if (ms <= 0) return;
      await advance(ms);
      moved += ms;
    },
  };
}
