import { expect, test } from 'vitest';
import { fixture, setUpSandbox } from '../helpers/voicectl.ts';
import { endBySignal, isWellEnded, type SignalCase, type SignalEnd, signalCases } from './signals.ts';

/** `npm run signals` sends each signal to each command at twenty moments. */
const moments = Number(process.env.SIGNAL_MOMENTS ?? 0);
/** Picked by hand: each command, each signal and each output occurs, and a signal that comes before a command does anything. */
const sample: SignalCase[] = [
  { command: 'stream', signal: 'SIGTERM', output: 'unread', afterMs: 2_000 },
  { command: 'serve', signal: 'SIGHUP', output: 'closed', afterMs: 2_000 },
  { command: 'replay', signal: 'SIGINT', output: 'read', afterMs: 2_000 },
  { command: 'exec', signal: 'SIGINT', output: 'unread', afterMs: 50 },
];
/** How many run at a time: the figures are for a machine that also does something else. */
const atOnce = 4;

const sandbox = setUpSandbox();

test('a signal ends each command in time, with a fitting exit code, and no process is left', {
  timeout: 60_000 + moments * 60_000,
}, async () => {
  const recorded = await sandbox.runHere([
    ...['stream', '--file', fixture('hello.wav'), '--pace', 'max', '--local', '--reply', 'echo'],
    ...['--record', 'session'],
  ]);
  expect(recorded.code).toBe(0);
  const cases = moments === 0 ? sample : signalCases(moments);
  const ends: SignalEnd[] = [];
  const work = cases.entries();
  const next = async () => {
    for (const [index, one] of work) ends.push(await endBySignal(sandbox, one, `pipe-${index}`));
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  const slowest = Math.max(...ends.map(({ tookMs }) => tookMs));
  const good = ends.filter(isWellEnded).length;
  if (moments > 0)
    process.stdout.write(`${good} of ${ends.length}, the slowest in ${Math.round(slowest)} ms\n`);
  expect(ends.filter((end) => !isWellEnded(end))).toEqual([]);
});
