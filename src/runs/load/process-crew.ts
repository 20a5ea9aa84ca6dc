import { type ChildProcess, fork } from 'node:child_process';
import { passErrors } from '../../kernel/child-errors.ts';
import { type Clock, repeat } from '../../kernel/clock.ts';
import { generatorFlags } from '../../kernel/engine-flags.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { createDeferred } from '../../kernel/promises.ts';
import type { LoadJob } from './generate.ts';
import type { Share } from './plan.ts';
import type { CrewJob, LoadCrew, LoadCrewHandlers } from './run-load.ts';
import type { LoadTick } from './tick.ts';

/** The built program of a generator process: beside the main program in dist/. */
export const loadWorker = new URL('./load-worker.js', import.meta.url);

/** Messages to a generator process. */
export type ToWorker =
  | { type: 'job'; job: Omit<LoadJob, 'startAt'> }
  | { type: 'start'; startAt: number }
  | { type: 'stop' };

/** Messages from it. */
export type FromWorker =
  | { type: 'ready' }
  | { type: 'tick'; tick: LoadTick }
  | { type: 'failure'; message: string }
  | { type: 'done' };

export interface ProcessCrewOptions {
  /** `loadWorker`, as a path. */
  worker: string;
  processes: number;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  signal: AbortSignal;
}

interface Worker {
  child: ChildProcess;
  /** Why it ended before it was done. */
  lost: string | undefined;
  isDone: boolean;
  /** For how long it has reported nothing. */
  silentSeconds: number;
  handlers: LoadCrewHandlers | undefined;
  ended: Promise<void>;
}

const secondMs = 1_000;
/** Even a busy machine starts a process within seconds. */
const longestStartMs = 30_000;
/** Generators report every second. One that is silent for longer was stopped, or hangs. */
const mostSilentSeconds = 8;
const mostSilentSecondsAtEnd = 4;

/** Starts a process per generator, and waits until all are ready. Throws `internal` if one cannot start. */
export async function createProcessCrew(
  job: CrewJob,
  { worker: file, processes, env, clock, signal }: ProcessCrewOptions,
): Promise<LoadCrew> {
  const workers = Array.from({ length: processes }, (_, generator) => {
    const worker = startWorker(file, generator, env);
    sendTo(worker, {
      type: 'job',
      job: { ...job, generator, share: shareOf(job.share, generator, processes) },
    });
    return worker;
  });
  const close = () => {
    for (const { child } of workers) child.kill('SIGKILL');
  };
  signal.addEventListener('abort', close, { once: true });
  try {
    await Promise.all(workers.map((worker) => becomesReady(worker, clock)));
    signal.throwIfAborted();
  } catch (thrown) {
    close();
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    signal.removeEventListener('abort', close);
  }
  return {
    size: processes,
    close,
    async run(startAt, ending, handlers) {
      const stop = () => {
        for (const worker of workers) sendTo(worker, { type: 'stop' });
      };
      for (const [generator, worker] of workers.entries()) {
        worker.handlers = handlers;
        sendTo(worker, { type: 'start', startAt });
        void worker.ended.then(() => {
          if (worker.lost !== undefined) handlers.onLost(generator, worker.lost);
        });
      }
      ending.addEventListener('abort', stop, { once: true });
      if (ending.aborted) stop();
      // Counted in beats of this timer: if this process itself was stopped, their reports are waiting to be read.
      const watch = repeat(clock, secondMs, () => {
        if (clock.wall() < startAt) return;
        const most = ending.aborted ? mostSilentSecondsAtEnd : mostSilentSeconds;
        for (const worker of workers) endIfSilent(worker, most);
      });
      await Promise.all(workers.map(({ ended }) => ended));
      watch.cancel();
      ending.removeEventListener('abort', stop);
    },
  };
}

function endIfSilent(worker: Worker, mostSeconds: number): void {
  worker.silentSeconds += 1;
  if (worker.silentSeconds <= mostSeconds) return;
  if (!worker.isDone) worker.lost ??= `it reported nothing for ${worker.silentSeconds} s`;
  worker.child.kill('SIGKILL');
}

/** Splits the sessions of a shard evenly among its generators. */
function shareOf({ part, of }: Share, generator: number, processes: number): Share {
  return { part: part + generator * of, of: of * processes };
}

function startWorker(file: string, generator: number, env: ProcessCrewOptions['env']): Worker {
  const child = fork(file, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...env },
    execArgv: generatorFlags,
  });
  passErrors(child);
  const ended = createDeferred();
  const worker: Worker = {
    child,
    lost: undefined,
    isDone: false,
    silentSeconds: 0,
    handlers: undefined,
    ended: ended.promise,
  };
  child.once('error', (thrown) => {
    worker.lost ??= thrown.message;
    ended.resolve();
  });
  child.once('exit', (code, signal) => {
    if (!worker.isDone)
      worker.lost ??= signal === null ? `it ended with ${code}` : `it was ended by ${signal}`;
    ended.resolve();
  });
  child.on('message', (message: FromWorker) => {
    worker.silentSeconds = 0;
    if (message.type === 'tick') worker.handlers?.onTick({ ...message.tick, generator });
    else if (message.type === 'failure') worker.handlers?.onFailure(message.message);
    else if (message.type === 'done') worker.isDone = true;
  });
  return worker;
}

function becomesReady(worker: Worker, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(longestStartMs, () =>
      reject(new VoicectlError('not-valid', `A generator was not ready within ${longestStartMs / 1000} s`)),
    );
    worker.child.on('message', ({ type }: FromWorker) => {
      if (type !== 'ready') return;
      timer.cancel();
      resolve();
    });
    void worker.ended.then(() => {
      timer.cancel();
      reject(new VoicectlError('internal', `A load generator process could not start: ${worker.lost}`));
    });
  });
}

/** Sends nothing to a process that has ended; its loss is reported elsewhere. */
function sendTo({ child }: Worker, message: ToWorker): void {
  if (child.connected) child.send(message, () => {});
}
