import { systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { generate, type LoadJob } from './generate.ts';
import type { FromWorker, ToWorker } from './process-crew.ts';

/** The program of a generator in a process of its own. Its parent sends the job, including the key, over a channel. */
const stopping = new AbortController();
let job: Omit<LoadJob, 'startAt'> | undefined;

const send = (message: FromWorker) => void process.send?.(message);
const stop = () => stopping.abort(new VoicectlError('interrupted', 'The run was stopped'));

process.on('message', (message: ToWorker) => {
  if (message.type === 'job') {
    job = message.job;
    send({ type: 'ready' });
  } else if (message.type === 'start') void run(message.startAt);
  else stop();
});
// The parent decides when a run ends: Ctrl-C reaches all processes of a terminal, and timeout(1) signals a group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {});
process.on('disconnect', stop);

async function run(startAt: number): Promise<void> {
  if (job === undefined) return;
  const pcm = Buffer.from(job.pcm);
  await generate(
    { ...job, pcm, startAt },
    {
      clock: systemClock,
      signal: stopping.signal,
      onTick: (tick) => send({ type: 'tick', tick }),
      onFailure: (message) => send({ type: 'failure', message }),
    },
  );
  send({ type: 'done' });
  process.disconnect?.();
}
