import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { median, quantile } from '../../bench/measure/statistics.js';
import { type Benchmark, runInTurns } from '../../bench/measure/turns.js';
import { markdownTable, summarise } from '../../bench/report.js';

const run = promisify(execFile);
const main = join(import.meta.dirname, '..', '..', 'bench', 'main.js');

/** A benchmark whose sides give these values, and the order in which they were asked. */
function benchmarkOf(program: number[], floor: number[], goal: Benchmark['goal']) {
  const order: string[] = [];
  const next = (name: string, values: number[]) => async () => {
    order.push(name);
    return { value: values.shift() ?? Number.NaN };
  };
  const benchmark: Benchmark = {
    name: 'b',
    figure: 'a figure',
    unit: 'ms',
    turns: program.length,
    goal,
    floorName: 'a floor',
    program: next('program', program),
    floor: next('floor', floor),
  };
  return { benchmark, order };
}

describe('a benchmark', () => {
  test('is measured in turns, and the other side is the first each time', async () => {
    const { benchmark, order } = benchmarkOf([1, 2, 3], [1, 2, 3], { of: 'ratio', atMost: 1, text: '≤ 1 ×' });
    await runInTurns(benchmark);
    expect(order).toEqual(['program', 'floor', 'floor', 'program', 'program', 'floor']);
  });

  test('is judged by the ratio of the medians, and shown with that of the pairs', async () => {
    const { benchmark } = benchmarkOf([10, 30, 20], [10, 10, 40], { of: 'ratio', atMost: 2, text: '≤ 2 ×' });
    const summary = summarise(await runInTurns(benchmark));
    expect(summary).toMatchObject({ program: 20, floor: 10, ratio: 2, ratioSpread: [0.5, 3], isMet: true });
    expect(markdownTable([summary])).toContain(
      '| a figure | 20 ms | a floor: 10 ms | 2.00 (0.50 – 3.00) | ≤ 2 × | yes |',
    );
  });

  test('that cannot be measured here says why, and is neither met nor missed', async () => {
    const { benchmark } = benchmarkOf([1], [1], { of: 'value', atLeast: 1, text: '≥ 1' });
    const skipped = { ...benchmark, program: async () => ({ skipped: 'no terminal' }) };
    const summary = summarise(await runInTurns(skipped));
    expect(summary.isMet).toBeUndefined();
    expect(markdownTable([summary])).toContain('skipped: no terminal');
  });

  test('has its ends closed also where a side fails', async () => {
    let closed = 0;
    const { benchmark } = benchmarkOf([1], [1], { of: 'value', text: '' });
    const failing = {
      ...benchmark,
      program: () => Promise.reject(new Error('gone')),
      after: async () => {
        closed += 1;
      },
    };
    await expect(runInTurns(failing)).rejects.toThrow('gone');
    expect(closed).toBe(1);
  });
});

test('quantiles lie between neighbours in a straight line', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(quantile([0, 10], 0.99)).toBeCloseTo(9.9);
});

test('the real program is measured beside its floor, as JSON', async () => {
  const { stdout } = await run(process.execPath, [main, 'version', '--turns', '2', '--json']);
  const { versions, benchmarks } = JSON.parse(stdout);
  expect(versions.node).toBe(process.versions.node);
  expect(benchmarks).toEqual([
    expect.objectContaining({ name: 'version', turns: 2, floorName: 'empty ESM file' }),
  ]);
  expect(benchmarks[0].ratio).toBeGreaterThan(0);
});

test('a benchmark that there is not is answered with those that there are', async () => {
  await expect(run(process.execPath, [main, 'nothing'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'No such benchmark: nothing. There are: version, version-written, help, token',
    ),
  });
});
