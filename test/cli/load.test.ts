import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createTimes } from '../../src/runs/load/histogram.ts';
import type { LoadResult } from '../../src/runs/load/result.ts';
import { setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

const resultOf = (name: string): LoadResult => JSON.parse(sandbox.read(name));

/** The processes that a process has started. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Starts `load` with much time left, also for arrivals, and waits until a stream is open: a busy machine drops some. */
async function startLoad(args: readonly string[]) {
  const { baseUrl } = await sandbox.serveHere(['--reply', 'silence']);
  const load = sandbox.start([
    ...['load', '--base-url', baseUrl, '--sessions', '40', '--arrival', 'constant:8/s'],
    ...['--task', 'listen', '--hold', '50s', '--json', '--out', sandbox.path('result.json'), ...args],
  ]);
  await load.line(/"type":"progress".*"confirmed":[1-9]/);
  return { load, baseUrl };
}

describe.skipIf(process.platform !== 'linux')('a run in several processes', () => {
  test('that loses one tells it, keeps the rest, and is not valid', async () => {
    const { load } = await startLoad(['--processes', '3', '--timeout', '40s']);
    const children = childrenOf(load.child.pid ?? 0);
    expect(children).toHaveLength(3);
    process.kill(children[1] ?? 0, 'SIGKILL');
    await load.line(/Generator 2 was lost: it was ended by SIGKILL/);
    load.signal('SIGINT');
    const { code, stdout, stderr } = await load.ended;
    expect(stderr).toContain('Generator 2 was lost');
    const result = resultOf('result.json');
    const { confirmed, stopped } = result.counts;
    expect(confirmed).toBeGreaterThan(0);
    expect(stopped).toBeGreaterThan(0);
    expect(result.generators.map(({ lost }) => lost)).toEqual([null, 'it was ended by SIGKILL', null]);
    expect(createTimes(result.metrics.confirmed?.finished).count).toBeGreaterThanOrEqual(confirmed);
    expect(stdout).toContain('"valid":false');
    // The user has ended it; a run that ends by itself ends with 9.
    expect(code).toBe(130);
  });

  test('that loses one and ends by itself exits with 9', async () => {
    const { baseUrl } = await sandbox.serveHere(['--reply', 'silence']);
    const load = sandbox.start([
      ...['load', '--base-url', baseUrl, '--sessions', '8', '--arrival', 'burst:8', '--processes', '2'],
      ...['--task', 'listen', '--hold', '3s', '--json'],
    ]);
    await load.line(/"type":"progress"/);
    process.kill(childrenOf(load.child.pid ?? 0)[0] ?? 0, 'SIGKILL');
    const { code, stderr } = await load.ended;
    expect(stderr).toContain('generator 1/1.1 was lost: it was ended by SIGKILL');
    expect(code).toBe(9);
  });
});

describe.skipIf(process.platform !== 'linux')('a generator', () => {
  const start = async (hold: string) => {
    const { baseUrl } = await sandbox.serveHere(['--reply', 'silence']);
    const load = sandbox.start([
      ...['load', '--base-url', baseUrl, '--sessions', '8', '--arrival', 'burst:8'],
      ...['--task', 'listen', '--hold', hold, '--json', '--out', sandbox.path('result.json')],
    ]);
    await load.line(/"type":"progress".*"confirmed":[1-9]/);
    const [generator] = childrenOf(load.child.pid ?? 0);
    // A signal to 0 would reach this process.
    if (generator === undefined) throw new Error('there is no generator');
    return { load, generator };
  };

  test('that stood still says so, and the run is not valid: exit 9', async () => {
    const { load, generator } = await start('4s');
    process.kill(generator, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 500));
    process.kill(generator, 'SIGCONT');
    const { code, stderr } = await load.ended;
    expect(stderr).toMatch(/generator 1\/1\.1 stood still for \d+ ms/);
    expect(code).toBe(9);
    const { counts, generators } = resultOf('result.json');
    expect(generators[0]?.longestPauseMs).toBeGreaterThanOrEqual(500);
    expect(counts.framesMissed).toBeGreaterThan(0);
  });

  test('that is stopped for good is not waited for, and its process is ended: exit 9', async () => {
    const { load, generator } = await start('2s');
    process.kill(generator, 'SIGSTOP');
    const { code, stderr } = await load.ended;
    expect(stderr).toContain('generator 1/1.1 was lost: it reported nothing for');
    expect(code).toBe(9);
    expect(() => process.kill(generator, 0)).toThrow('ESRCH');
  });
});

test('Ctrl-C closes the streams with 1000 and writes the partial result', async () => {
  const { load, baseUrl } = await startLoad([]);
  load.signal('SIGINT');
  const { code } = await load.ended;
  expect(code).toBe(130);
  const result = resultOf('result.json');
  expect(result.stopped).toBe('Interrupted');
  const { stopped, confirmed } = result.counts;
  expect(stopped).toBeGreaterThanOrEqual(confirmed);
  const closes = async () => {
    const answer = await fetch(`${baseUrl}/__voicectl/journal?type=stream-closed`);
    return ((await answer.json()) as { code: number }[]).filter(({ code }) => code === 1000);
  };
  // One that was being opened has nothing to close yet.
  await expect.poll(async () => (await closes()).length).toBeGreaterThanOrEqual(confirmed);
});

test('a signal to the whole group of processes ends a run as one to the program does', async () => {
  const { load } = await startLoad([]);
  process.kill(-(load.child.pid ?? Number.NaN), 'SIGTERM');
  expect((await load.ended).code).toBe(143);
  const { stopped, generators } = resultOf('result.json');
  expect({ stopped, generators }).toMatchObject({ stopped: 'Terminated', generators: [{ lost: null }] });
});
