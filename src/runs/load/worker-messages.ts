import type { LoadJob } from './generate.ts';
import type { LoadTick } from './tick.ts';

/** What a generator in a process of its own is told. */
export type ToWorker =
  | { type: 'job'; job: Omit<LoadJob, 'startAt'> }
  | { type: 'start'; startAt: number }
  | { type: 'stop' };

/** What it answers. */
export type FromWorker =
  | { type: 'ready' }
  | { type: 'tick'; tick: LoadTick }
  | { type: 'failure'; message: string }
  | { type: 'done' };
