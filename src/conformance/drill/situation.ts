import type { EmulatorOptions } from '../../emulator/options.ts';
import type { FaultInput } from '../../protocol/faults.ts';
import type { ReplyState } from '../../protocol/messages.ts';
import type { Finding } from '../../rules/rule.ts';
import type { DrillView } from './view.ts';

/** One thing that happens to a device, and what a good device does then. */
export interface Situation {
  /** Its rule, and which of its situations: `D9-1012`. */
  id: string;
  title: string;
  /** What the service is like. */
  service?: Service | ((places: Places) => Service);
  /** What is done to the service or the device, in order, each once its moment has come. */
  steps?: readonly SituationStep[];
  /** Whether all has been seen. */
  until(view: DrillView): boolean;
  /** Longest time from the first sign of the device, or as many times the device's own time to notice a loss. */
  longest: { ms: number } | { deviceTimeouts: number };
  /** Pure. */
  judge(view: DrillView): Finding;
  /** A command that ends is started again, once: what does it present then? */
  restarts?: true;
  /** Needs `--tls`. */
  tls?: 'wrong-name' | 'untrusted';
}

/** Options of the emulator that make a situation. */
export type Service = Pick<
  EmulatorOptions,
  'faults' | 'dialect' | 'reply' | 'rateLimit' | 'maxConnections' | 'pingEveryMs'
>;

/** Addresses that a situation may name. */
export interface Places {
  /** Base URL of another host, which no device of this service should visit. */
  elsewhere: string;
}

export interface SituationStep {
  when(view: DrillView): boolean;
  do: StepAction;
}

/**
 * What a step does: adds a fault, moves the service's clock, asks the device to stop, sends a status message, audio
 * messages of these lengths in bytes, or speaks for this long.
 */
export type StepAction =
  | { fault: FaultInput }
  | { advanceMs: number }
  | { stop: 'device' }
  | { status: ReplyState }
  | { audio: readonly number[] }
  | { sayMs: number };
