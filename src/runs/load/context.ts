import type { LoadTask } from '../../config/load-tasks.ts';
import type { Target } from '../../config/target.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { ApiVersion } from '../../protocol/paths.ts';
import type { Cleanness } from '../../session/expectations.ts';
import type { FastStream, FastStreamHandlers } from '../../wire/client/fast-stream.ts';
import type { Pulse } from '../../wire/pulse.ts';
import type { Clip } from './clip.ts';
import type { Tally } from './tally.ts';
import type { SessionTimes } from './tasks.ts';

/** The service, and the key for it. */
export interface LoadTarget extends Pick<Target, 'baseUrl' | 'wsUrl' | 'apiKey' | 'ca'> {
  apiVersion: ApiVersion | undefined;
}

/** Shared by all sessions of a generator. */
export interface LoadContext {
  clock: Clock;
  target: LoadTarget;
  dial: (handlers: FastStreamHandlers) => FastStream;
  pulse: Pulse;
  clip: Clip;
  tally: Tally;
  task: LoadTask;
  times: SessionTimes;
  /** If set, a session whose AI audio is not clean fails. */
  clean: Cleanness | undefined;
  /** The clock's time at which the run starts. */
  startedAt: number;
  /** Ends all sessions. */
  signal: AbortSignal;
  /** Called with the message of each failure, without secrets. */
  onFailure(message: string): void;
}

export interface PlannedSession {
  /** The clock's time at which it is due. */
  due: number;
  device: string;
}
