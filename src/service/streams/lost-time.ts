import type { Socket } from 'node:net';
import type { LostTime } from '../../audio/verdict/pace-check.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type Lateness, watchLateness } from '../../kernel/lateness.ts';
import { Line } from '../../wire/server/network/line.ts';

/** Lateness that any timer may have. */
const toleratedMs = 5;

/** Measures the time in which this process did not run, while at least one stream is open. */
export interface OwnLateness extends LostTime {
  /** Begins to measure for one more stream. Call the result when it has ended. */
  watch(): () => void;
}

/** `clock`: the clock of the machine. */
export function createOwnLateness(clock: Clock): OwnLateness {
  let lostMs = 0;
  let watchers = 0;
  let lateness: Lateness | undefined;

  return {
    get lostMs() {
      // After a pause sockets may be read before timers run.
      lateness?.look();
      return lostMs;
    },
    watch() {
      watchers += 1;
      lateness ??= watchLateness(clock, (lateMs) => {
        if (lateMs > toleratedMs) lostMs += lateMs;
      });
      return () => {
        watchers -= 1;
        if (watchers > 0) return;
        lateness?.stop();
        lateness = undefined;
      };
    },
  };
}

/** What is lost for either reason. */
export function lostToBoth(one: LostTime, other: LostTime): LostTime {
  return {
    get lostMs() {
      return one.lostMs + other.lostMs;
    },
  };
}

/** The time that messages of a peer lose: in this process, and in the network that it simulates. */
export function lostOnTheWay(own: LostTime, transport: Socket): LostTime {
  if (!(transport instanceof Line)) return own;
  return {
    get lostMs() {
      return own.lostMs + transport.lostMs;
    },
    get heldMs() {
      return transport.heldMs;
    },
  };
}
