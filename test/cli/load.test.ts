import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'vitest';
import { createTimes } from '../../src/runs/load/histogram.ts';
import type { LoadResult } from '../../src/runs/load/result.ts';
import { startEmulatorFor } from '../helpers/emulators.ts';
import { sandboxFor } from '../helpers/voicectl.ts';

/** The processes that a process has started. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Starts `load` and an emulator for it, and waits until `line` appears. */
async function startLoad(
  context: TestContext,
  args: readonly string[],
  line = /"type":"progress".*"confirmed":[1-9]/,
) {
  const sandbox = sandboxFor(context);
  const { baseUrl } = await startEmulatorFor(context, { reply: 'silence' });
  const flags = ['--task', 'listen', '--json', '--out', sandbox.path('result.json'), ...args];
  const load = sandbox.start(['load', '--base-url', baseUrl, ...flags]);
  await load.line(line);
  return { load, baseUrl, result: (): LoadResult => JSON.parse(sandbox.read('result.json')) };
}

/** With plenty of time, also for arrivals: a busy machine drops some. */
const long = ['--sessions', '40', '--arrival', 'constant:8/s', '--hold', '50s'];
const burst = (hold: string) => ['--sessions', '8', '--arrival', 'burst:8', '--hold', hold];

describe.skipIf(process.platform !== 'linux').concurrent('a run in several processes', () => {
  test('that loses a process reports it, keeps the rest, and is not valid', async (context) => {
    const { expect } = context;
    const { load, result } = await startLoad(context, [...long, '--processes', '2', '--timeout', '40s']);
    const children = childrenOf(load.child.pid ?? 0);
    expect(children).toHaveLength(2);
    process.kill(children[1] ?? 0, 'SIGKILL');
    await load.line(/Generator 2 was lost: it was ended by SIGKILL/);
    load.signal('SIGINT');
    const { code, stdout, stderr } = await load.ended;
    expect(stderr).toContain('Generator 2 was lost');
    const { counts, generators, metrics } = result();
    expect(counts.confirmed).toBeGreaterThan(0);
    expect(counts.stopped).toBeGreaterThan(0);
    expect(generators.map(({ lost }) => lost)).toEqual([null, 'it was ended by SIGKILL']);
    expect(createTimes(metrics.confirmed?.finished).count).toBeGreaterThanOrEqual(counts.confirmed);
    expect(stdout).toContain('"valid":false');
    // The user ended it; a run that ends by itself ends with 9.
    expect(code).toBe(130);
  });

  test('names the process that was killed, the one that was stopped and the one that stalled, waits for none of them, and is not valid: exit 9', async (context) => {
    const { expect } = context;
    const flags = [...burst('4s'), '--processes', '3'];
    const { load, result } = await startLoad(context, flags, /"type":"progress".*"confirmed":8/);
    const [killed = Number.NaN, stopped = Number.NaN, still = Number.NaN] = childrenOf(load.child.pid ?? 0);
    process.kill(killed, 'SIGKILL');
    process.kill(stopped, 'SIGSTOP');
    process.kill(still, 'SIGSTOP');
    // The length of the stall, which nothing reports.
    await new Promise((resolve) => setTimeout(resolve, 500));
    process.kill(still, 'SIGCONT');
    const { code, stderr } = await load.ended;
    // Each of these makes the run invalid.
    expect(stderr).toContain('generator 1/1.1 was lost: it was ended by SIGKILL');
    expect(stderr).toContain('generator 1/1.2 was lost: it reported nothing for');
    expect(stderr).toMatch(/generator 1\/1\.3 stalled for \d+ ms/);
    expect(code).toBe(9);
    expect(() => process.kill(stopped, 0)).toThrow('ESRCH');
    const { counts, generators } = result();
    expect(generators[2]?.longestPauseMs).toBeGreaterThanOrEqual(500);
    expect(counts.framesMissed).toBeGreaterThan(0);
  });
});

describe.concurrent('a run ends at', () => {
  test('Ctrl-C, a signal to the whole process group: it closes the streams with 1000 and writes the partial result', async (context) => {
    const { expect } = context;
    const { load, baseUrl, result } = await startLoad(context, long);
    process.kill(-(load.child.pid ?? Number.NaN), 'SIGINT');
    const { code } = await load.ended;
    expect(code).toBe(130);
    const { stopped, counts, generators } = result();
    expect({ stopped, generators }).toMatchObject({ stopped: 'Interrupted', generators: [{ lost: null }] });
    expect(counts.stopped).toBeGreaterThanOrEqual(counts.confirmed);
    const closes = async () => {
      const answer = await fetch(`${baseUrl}/__voicectl/journal?type=stream-closed`);
      return ((await answer.json()) as { code: number }[]).filter(({ code }) => code === 1000);
    };
    // A stream that was being opened has nothing to close yet.
    await expect.poll(async () => (await closes()).length).toBeGreaterThanOrEqual(counts.confirmed);
  });
});
