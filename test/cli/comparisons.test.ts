import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { compareRuns } from '../../src/runs/compare/compare-runs.ts';
import { toScale } from '../../src/runs/compare/figure.ts';
import { runOfLoad } from '../../src/runs/compare/load-run.ts';
import type { RunSet } from '../../src/runs/compare/run-set.ts';
import { createTimes } from '../../src/runs/load/histogram.ts';
import type { LoadResult } from '../../src/runs/load/result.ts';
import { program, setUpSandbox } from '../helpers/voicectl.ts';
import { baselineOf, createDraws } from '../runs/compare/simulated-runs.ts';

const sandbox = setUpSandbox();
const comparisons = Number(process.env.COMPARISONS ?? 0);

test('real runs: equal ones are not worse, slower ones are, and invalid ones are counted separately', async () => {
  const [fast, slow] = [await sandbox.serveHere(), await sandbox.serveHere(['--network', 'latency=200ms'])];
  const run = async (baseUrl: string, flags: readonly string[] = []) => {
    const load = ['load', '--base-url', baseUrl, '--sessions', '40', '--arrival', 'constant:50/s'];
    const { code, stdout } = await sandbox.runHere([
      ...[...load, '--task', 'tokens', '--processes', 'none', '--baseline', 'b.json', '--json', ...flags],
    ]);
    const line = stdout.split('\n').find((text) => text.startsWith('{"type":"comparison"'));
    return { code, verdict: line === undefined ? undefined : JSON.parse(line).verdict };
  };
  const runsIn = () =>
    existsSync(sandbox.path('b.json')) ? JSON.parse(sandbox.read('b.json')).runs.length : 0;
  // A run that is not valid is not added: a busy machine needs more runs.
  for (let tries = 0; runsIn() < 5 && tries < 15; tries += 1) await run(fast.baseUrl, ['--update-baseline']);
  expect((await run(fast.baseUrl)).verdict).not.toBe('worse');
  // A busy machine makes no valid run, which proves nothing.
  if (runsIn() >= 5) expect(['worse', 'not valid']).toContain((await run(slow.baseUrl)).verdict);
}, 120_000);

/** Each of about 13 s: 60 runs of a service, and in between 20 of one whose first audio is 10 % later. */
const load = ['--sessions', '200', '--arrival', 'constant:30/s'];
const rounds = 20;

/** Writes results of `load` to this folder, unless they exist already. */
async function makeRuns(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).some((name) => name.endsWith('.json'))) return;
  // The round trip takes 70 ms of 705 ms.
  const [fast, slow] = [await sandbox.serve(), await sandbox.serve(['--network', 'latency=35ms'])];
  for (let round = 1; round <= rounds; round += 1)
    for (const name of ['equal-1', 'equal-2', 'equal-3', 'slower']) {
      const { baseUrl } = name === 'slower' ? slow : fast;
      const flags = ['--base-url', baseUrl, ...load, '--out', join(folder, `${name}-${round}.json`)];
      await promisify(execFile)(process.execPath, [program, 'load', ...flags]).catch(() => {});
    }
}

/** A result whose times of first audio beyond p90 are longer by a tenth. */
function withLongerTail(result: LoadResult): LoadResult {
  const { 'first-audio': given } = result.metrics;
  if (given === undefined) return result;
  const [was, longer] = [createTimes(given.finished), createTimes()];
  const from = was.at(90);
  for (const [us, count] of was.values()) longer.add(Math.round(us > from ? us * 1.1 : us), count);
  return {
    ...result,
    metrics: { ...result.metrics, 'first-audio': { ...given, finished: longer.encode() } },
  };
}

/**
 * With COMPARISONS, real runs: in the folder COMPARED_RUNS, where they are used again. Each comparison is of one run with a
 * baseline of others, drawn at random.
 */
describe.runIf(comparisons > 0)('many real runs', () => {
  test('are compared with others of the same service', async () => {
    const folder = process.env.COMPARED_RUNS ?? sandbox.path('runs');
    await makeRuns(folder);
    const read = (prefix: string) =>
      readdirSync(folder)
        .filter((name) => name.startsWith(prefix))
        .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as LoadResult);
    const isValid = (result: LoadResult) => runOfLoad(result, '').runs[0].invalid.length === 0;
    const all = { equal: read('equal'), slower: read('slower') };
    const [equal, slower] = [all.equal.filter(isValid), all.slower.filter(isValid)];
    const print = (text: string) => process.stdout.write(`${text}\n`);
    print(
      `valid: ${equal.length} of ${all.equal.length} equal, ${slower.length} of ${all.slower.length} slower runs`,
    );

    const sets = equal.map((result) => runOfLoad(result, 'run'));
    const longer = equal.map((result) => runOfLoad(withLongerTail(result), 'run'));
    const spread = (name: string) => {
      const logs = sets
        .flatMap(({ runs: [{ figures }] }) => figures.find((one) => one.name === name) ?? [])
        .map(toScale);
      const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length;
      return Math.sqrt(logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (logs.length - 1));
    };
    for (const name of ['first-audio:p50', 'first-audio:p95', 'token:p50', 'token:p95'])
      print(`${name} differs between runs by ${(100 * spread(name)).toFixed(1)} %`);
    const late = slower.map((result) => runOfLoad(result, 'run'));
    const { uniform } = createDraws(1);
    const draw = <Item>(items: Item[]) => items.splice(Math.floor(uniform() * items.length), 1)[0];
    const share = (size: number, next: (index: number) => RunSet | undefined, told: RegExp) => {
      let count = 0;
      for (let trial = 0; trial < comparisons; trial += 1) {
        const left = sets.map((_, index) => index);
        const one = next(draw(left) ?? 0);
        const others = Array.from({ length: size }, () => sets[draw(left) ?? 0]).filter(
          (set) => set !== undefined,
        );
        if (one === undefined) continue;
        const { figures } = compareRuns(baselineOf(others), one);
        if (figures.some(({ name, change }) => change === 'worse' && told.test(name))) count += 1;
      }
      return `${((100 * count) / comparisons).toFixed(1)} %`;
    };
    for (const size of [5, 10, 20]) {
      if (sets.length <= size) continue;
      const firstAudio = /^first-audio:p95/;
      print(
        `baseline of ${size}: equal runs worse ${share(size, (index) => sets[index], /./)} (first-audio alone ${share(size, (index) => sets[index], /^first-audio/)}); tail + 10 % told ${share(size, (index) => longer[index], firstAudio)}; service 10 % later told ${share(size, () => late[Math.floor(uniform() * late.length)], firstAudio)}`,
      );
    }
    expect(sets.length).toBeGreaterThan(0);
  }, 3_600_000);
});
