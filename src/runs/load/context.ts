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

/** Which service, and with which key. */
export interface LoadTarget extends Pick<Target, 'baseUrl' | 'wsUrl' | 'apiKey' | 'ca'> {
  apiVersion: ApiVersion | undefined;
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

export interface PlannedSession {
  /** The clock's time at which it is due. */
  due: number;
  device: string;
}
