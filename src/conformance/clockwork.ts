import { type Clock, waitUntil } from '../kernel/clock.ts';

/** Time for a run: the machine's time, or the time of an emulator whose clock moves instead of waiting. */
export interface Clockwork {
  /** For exchanges with the service: timestamps follow moved time, deadlines the machine's time. */
  readonly clock: Clock;
  readonly isMoved: boolean;
  /** Passes time until the monotonic moment `at`; `isWatched`: whether something may happen in between. Default: it may. */
  pass(at: number, signal: AbortSignal, isWatched?: () => boolean): Promise<void>;
}

export function createRealClockwork(clock: Clock): Clockwork {
  return { clock, isMoved: false, pass: (at, signal) => waitUntil(clock, at, signal) };
}

export interface ClockMover {
  advance(ms: number): Promise<void>;
  end(): Promise<void>;
}

export interface MovedClockworkOptions {
  base: Clock;
  /** How far the emulator's clock is ahead of the machine's at the start. */
  aheadMs: number;
  /** For moves of the emulator's clock, one after the other. */
  createMover(): ClockMover;
  /** Size of one move over short spans, so that events in between happen at their time. Default: the whole span. */
  grainMs?: number | undefined;
}

/** Over longer spans than this, the clock moves in one step. */
const longestFineMs = 40_000;

/** Moves the emulator's clock instead of waiting. */
export function createMovedClockwork(options: MovedClockworkOptions): Clockwork {
  const { base, aheadMs, createMover, grainMs } = options;
  let moved = 0;
  const clock: Clock = {
    now: () => base.now() + moved,
    wall: () => base.wall() + aheadMs + moved,
    after: (ms, call, options) => base.after(ms, call, options),
  };
  return {
    clock,
    isMoved: true,
    async pass(at, _signal, isWatched = () => true) {
      const span = at - clock.now();
      const mostMs = () => (span > longestFineMs || !isWatched() ? span : (grainMs ?? span));
      if (span <= 0) return;
      const mover = createMover();
      try {
        for (let left = span; left > 0; left = at - clock.now()) {
          const ms = Math.min(left, mostMs());
          // First: what the move causes may arrive before its answer, and must not seem early.
          moved += ms;
          await mover.advance(ms);
        }
      } finally {
        await mover.end();
      }
    },
  };
}
