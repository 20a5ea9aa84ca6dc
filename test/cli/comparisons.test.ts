import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

/**
 * Real runs of `load` beside the simulated ones: with COMPARISONS, a baseline of 20 runs, then 20 equal ones and 10
 * against a service that answers 10 % later. Otherwise a sample.
 */
const isWhole = Number(process.env.COMPARISONS ?? 0) > 0;
const sizes = isWhole ? { base: 20, equal: 20, slower: 10 } : { base: 5, equal: 1, slower: 1 };
const load = isWhole
  ? ['--sessions', '400', '--arrival', 'constant:40/s']
  : ['--sessions', '100', '--arrival', 'constant:50/s', '--task', 'tokens'];

/** 10 % of the first audio, which takes about 705 ms; tokens take a few milliseconds. */
const delay = isWhole ? 'latency=70ms' : 'latency=200ms';

test('real runs: equal ones are not worse, slower ones are, and those that are not valid are counted apart', async () => {
  const [fast, slow] = [await sandbox.serve(), await sandbox.serve(['--network', delay])];
  const counts = { equal: 0, slower: 0, falseAlarms: 0, told: 0, invalid: 0 };
  const run = async (baseUrl: string, flags: readonly string[]) => {
    const { code, stdout } = await sandbox.run([
      'load',
      '--base-url',
      baseUrl,
      ...load,
      '--baseline',
      'b.json',
      '--json',
      ...flags,
    ]);
    const line = stdout.split('\n').find((text) => text.startsWith('{"type":"comparison"'));
    return { code, verdict: line === undefined ? undefined : JSON.parse(line).verdict };
  };
  const runsIn = () =>
    existsSync(sandbox.path('b.json')) ? JSON.parse(sandbox.read('b.json')).runs.length : 0;
  // A run that is not valid is not added: on a busy machine it takes more of them.
  for (let tries = 0; runsIn() < sizes.base && tries < 3 * sizes.base; tries += 1)
    if ((await run(fast.baseUrl, ['--update-baseline'])).code === 9) counts.invalid += 1;
  for (let runs = 0; runs < sizes.equal; runs += 1) {
    const { verdict } = await run(fast.baseUrl, []);
    if (verdict === 'not valid') counts.invalid += 1;
    else counts.equal += 1;
    if (verdict === 'worse') counts.falseAlarms += 1;
  }
  for (let runs = 0; runs < sizes.slower; runs += 1) {
    const { verdict } = await run(slow.baseUrl, []);
    if (verdict === 'not valid') counts.invalid += 1;
    else counts.slower += 1;
    if (verdict === 'worse') counts.told += 1;
  }
  if (isWhole) process.stdout.write(`real runs of load: ${JSON.stringify({ base: runsIn(), ...counts })}\n`);
  expect(counts.falseAlarms).toBe(0);
  // A machine that is busy makes no valid run: it is told, and proves nothing.
  if (runsIn() >= 5) expect(counts.told).toBe(counts.slower);
}, 1_800_000);
