import type { EmulatorOptions } from '../../emulator/options.ts';
import type { FaultInput } from '../../protocol/faults.ts';
import type { ReplyState } from '../../protocol/messages.ts';
import type { Finding, Seen } from '../../rules/rule.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import type { Addresses } from '../../wire/addresses.ts';
import type { TokenExchange } from '../../wire/exchange.ts';

/** Something that happens to a device, and how a good device reacts. */
export interface Situation {
  /** Its rule, and which of its situations: `D9-1012`. */
  id: string;
  title: string;
  /** What the service is like. */
  service?: Service | ((places: Places) => Service);
  /** What is done to the service or the device, in order, each once its moment has come. */
  steps?: readonly SituationStep[];
  /** Whether everything has been seen. */
  until(view: DrillView): boolean;
  /**
   * Longest time from the first sign of the device. `notices`: its own time to notice a loss and then the milliseconds, both from
   * the first step.
   */
  longest: { ms: number; notices?: true };
  /** Pure. */
  judge(view: DrillView): Finding;
  /** A command that ends is restarted once, to see what it presents then. */
  restarts?: true;
  /** Needs `--tls`. */
  tls?: 'wrong-name' | 'untrusted';
}

/** Options of the emulator that create a situation. */
export interface Service
  extends Pick<EmulatorOptions, 'dialect' | 'reply' | 'rateLimit' | 'maxConnections' | 'pingEveryMs'> {
  faults?: readonly FaultInput[];
}

/** Addresses that a situation may name. */
export interface Places {
  /** Base URL of another host, which no device of this service should contact. */
  elsewhere: string;
}

export interface SituationStep {
  when(view: DrillView): boolean;
  do: StepAction;
}

/**
 * What a step does: adds a fault, moves the service's clock, asks the device to stop, sends a status message, audio
 * messages of these lengths in bytes, or a reply of this duration.
 */
export type StepAction =
  | { fault: FaultInput }
  | { advanceMs: number }
  | { stop: 'device' }
  | { status: ReplyState }
  | { audio: readonly number[] }
  | { sayMs: number };

/** An event of the service's journal, and when it happened on the clock of the exchanges. */
export type TimedEvent = EmulatorEvent & { at: number };

/** What has been seen of a device in a situation so far. */
export interface DrillView {
  now: number;
  /** Token requests `T1`, `T2` … and streams `S1`, `S2` …, each in the order of time. */
  seen: readonly Seen[];
  journal: readonly TimedEvent[];
  /** Whether a device that does not count has connected. */
  isShared: boolean;
  /** Requests that reached the other host. */
  elsewhere: readonly TokenExchange[];
  /** When each step was done. */
  done: readonly number[];
  device: DeviceState;
  /** How long a device may take to notice that the service is gone. */
  deviceTimeoutMs: number;
}

/** What is known about the command, if the drill started one. */
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

/** Where the service of a situation listens. */
export interface ListeningAddress extends Addresses {
  /** The addresses for other machines, if it listens on all interfaces. */
  lan: readonly Addresses[];
}

/** Where a device of the drill connects. */
export interface DeviceAddress extends Addresses {
  /** The certificate that the device is to trust, as PEM. */
  certificate: string | undefined;
}

/** A device that the drill started. */
export interface Device {
  /** The exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Asks it to stop, as its user would. */
  stop(): void;
  /** Ends it and everything that it started, and resolves when all of it is gone. */
  kill(): Promise<void>;
  /** The last lines that it printed. */
  output(): string[];
}

/** Starts the device. Throws `usage` if it cannot run. */
export type StartDevice = (address: DeviceAddress) => Promise<Device>;
