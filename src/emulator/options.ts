import type { ServiceOptions } from '../service/settings.ts';
import type { Tap } from '../wire/tap.ts';
import type { CreateReply } from './replies/reply.ts';
import type { Scenario } from './scenario/scenario.ts';
import type { ScenarioInput } from './scenario/scenario-schema.ts';

/** Listening on anything but loopback needs `acceptKeys`. */
export interface EmulatorOptions extends ServiceOptions {
  /** Accepted API keys. Default: any non-empty key. */
  acceptKeys?: readonly string[];
  /**
   * Who speaks: a reply mode, as on the command line, a function that makes the reply of each stream, or a module that
   * exports it as `createReply`. Default `parrot`.
   */
  reply?: string | CreateReply | { createReply: CreateReply };
  /** Ends the wait for a file that `reply` names, such as a pipe that nobody writes. */
  signal?: AbortSignal;
  /** Speed of `replay:`; 2 is twice as fast. Default 1. */
  replaySpeed?: number | undefined;
  /** Token requests per device and minute. Default 60; 0 refuses each. */
  rateLimit?: number;
  /** Connections per device. Default 10; 0 refuses each. */
  maxConnections?: number;
  /** Interval of pings. A device that has not answered one when the next is due is cut off. Default 15 s. */
  pingEveryMs?: number;
  /** Called for each token request, and for each stream with its number. Returns an observer of it. */
  tap?: (stream?: number) => Tap | undefined;
  /**
   * Keeps what devices send, for `emulator.stream().audio()`: up to 10 minutes of each stream, and 40 minutes together.
   * Default false.
   */
  keepAudio?: boolean;
  /** Scenario for each stream: a file, the name of an included one, its content, or a loaded one. `reply` speaks for devices without steps. */
  scenario?: string | ScenarioInput | Scenario;
}
