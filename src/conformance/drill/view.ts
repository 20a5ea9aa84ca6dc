import type { Seen } from '../../rules/rule.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import type { TokenExchange } from '../../wire/exchange.ts';

/** An event of the service's journal, and when it happened on the clock of the exchanges. */
export type TimedEvent = EmulatorEvent & { at: number };

/** What has been seen of a device in one situation so far. */
export interface DrillView {
  now: number;
  /** Token requests `T1`, `T2` … and streams `S1`, `S2` …, each in the order of time. */
  seen: readonly Seen[];
  journal: readonly TimedEvent[];
  /** Requests that reached the other host. */
  elsewhere: readonly TokenExchange[];
  /** When each step was done. */
  done: readonly number[];
  device: DeviceState;
  /** How long a device may take to notice that the service is gone. */
  deviceTimeoutMs: number;
}

/** What is known of the command, if the drill started one. */
export interface DeviceState {
  /** How often the drill started it; 0: somebody else starts it. */
  starts: number;
  /** How it ended first, if it did. */
  ended: DeviceEnd | undefined;
}

export interface DeviceEnd {
  at: number;
  /** The exit code, or the signal that ended it. */
  status: number | string;
}
