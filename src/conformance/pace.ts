import { type Clock, waitUntil } from '../kernel/clock.ts';

/** Lets requests pass one after the other, at a steady rate. */
export interface RequestPace {
  /** Resolves when the next request may be sent; `factor` times as fast as usual. */
  turn(factor: number, signal: AbortSignal): Promise<void>;
}

const usualPerSecond = 2;

export function createPace(clock: Clock, perSecond = usualPerSecond): RequestPace {
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    async turn(factor, signal) {
      const at = Math.max(clock.now(), nextAt);
      nextAt = at + 1000 / (perSecond * factor);
      if (at > clock.now()) await waitUntil(clock, at, signal);
    },
  };
}
