import type { Clock } from '../../kernel/clock.ts';
import type { RedisConnection } from './connection.ts';
import { timeScript } from './scripts/window.ts';

/** The time of day of Redis, estimated on this machine. */
export interface RedisTime {
  /** The machine's clock, with the time of day of Redis. */
  readonly clock: Clock;
  /** Asks Redis for its time. */
  measure(connection: RedisConnection): Promise<void>;
}

/** A difference below this counts as network delay, milliseconds. */
const smallestMs = 2;
const samples = 3;

export function createRedisTime(base: Clock): RedisTime {
  let aheadMs = 0;
  const sample = async (connection: RedisConnection) => {
    const sentAt = base.now();
    const wall = base.wall();
    const [, real] = await connection.run(timeScript, [], []);
    const tripMs = base.now() - sentAt;
    return { tripMs, aheadMs: Number(real) - (wall + tripMs / 2) };
  };
  return {
    clock: { now: base.now, after: base.after, wall: () => base.wall() + aheadMs },
    async measure(connection) {
      let best = await sample(connection);
      for (let taken = 1; taken < samples; taken += 1) {
        const next = await sample(connection);
        if (next.tripMs < best.tripMs) best = next;
      }
      // A clock may have been set: follow a difference that is larger than the error of the measurement.
      if (Math.abs(best.aheadMs - aheadMs) > Math.max(smallestMs, best.tripMs)) aheadMs = best.aheadMs;
    },
  };
}
