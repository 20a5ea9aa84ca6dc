import { describe, expect, test } from 'vitest';
import { createLossReport } from '../../../src/devices/capture.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';

function open() {
  const clock = createCountedClock();
  const told: [at: number, lostMs: number][] = [];
  const losses = createLossReport(clock, (lostMs) => told.push([clock.now(), lostMs]));
  return { clock, losses, told };
}

describe('a report of losses', () => {
  test('reports the first one at once, and the sum of later ones once a second', () => {
    const { clock, losses, told } = open();
    for (let i = 0; i < 150; i += 1) {
      losses.add(20);
      clock.advance(20);
    }
    expect(told).toEqual([
      [0, 20],
      [1_000, 980],
      [2_000, 1_000],
      [3_000, 1_000],
    ]);
  });

  test('is silent if nothing is lost, and reports the next loss at once', () => {
    const { clock, losses, told } = open();
    losses.add(20);
    clock.advance(5_000);
    expect(told).toEqual([[0, 20]]);
    expect(clock.pending).toEqual([]);
    losses.add(40);
    expect(told.at(-1)).toEqual([5_000, 40]);
  });

  test('reports the rest at its end, and leaves no timer', () => {
    const { clock, losses, told } = open();
    losses.add(20);
    losses.add(60);
    losses.end();
    expect(told).toEqual([
      [0, 20],
      [0, 60],
    ]);
    expect(clock.pending).toEqual([]);
  });
});
