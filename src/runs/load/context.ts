import type { LoadTask } from '../../config/load-tasks.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { ApiVersion } from '../../protocol/paths.ts';
import type { Cleanness } from '../../session/expectations.ts';
import type { FastStream, FastStreamHandlers } from '../../wire/client/fast-stream.ts';
import type { Pulse } from '../../wire/pulse.ts';
import type { Clip } from './clip.ts';
import type { Tally } from './tally.ts';
import type { SessionTimes } from './tasks.ts';

/** Which service, and with which key. */
export interface LoadTarget {
  baseUrl: string;
  wsUrl: string;
  apiVersion: ApiVersion | undefined;
  apiKey: string;
  /** PEM certificates to trust in place of the built-in authorities. */
  ca: string | undefined;
}

/** What all sessions of a generator share. */
export interface LoadContext {
  clock: Clock;
  target: LoadTarget;
  dial: (handlers: FastStreamHandlers) => FastStream;
  pulse: Pulse;
  clip: Clip;
  tally: Tally;
  task: LoadTask;
  times: SessionTimes;
  /** Sessions whose AI audio is not clean fail. */
  clean: Cleanness | undefined;
  /** The clock's time at which the run starts. */
  startedAt: number;
  /** Ends all sessions. */
  signal: AbortSignal;
  /** Takes the message of a failure, without secrets. */
  onFailure(message: string): void;
}

/** A session as it was planned. */
export interface PlannedSession {
  /** The clock's time at which it is due. */
  due: number;
  device: string;
}
