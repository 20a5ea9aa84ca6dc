import { describe, expect, test } from 'vitest';
import { createPacer, type PacerOptions } from '../../src/audio/pacer.ts';
import { createCountedClock } from '../helpers/counted-clock.ts';

/** Lets frames go, by default 20 ms each in real time, and writes down when each went. */
function pace(options: Partial<PacerOptions> = {}) {
  const clock = createCountedClock();
  const ending = new AbortController();
  const gone: number[] = [];
  const late: number[] = [];
  const skipped: number[] = [];
  const pacer = createPacer({
    pace: 1,
    frameMs: 20,
    clock,
    onFrame: (ms) => late.push(ms),
    onReanchor: (ms) => skipped.push(ms),
    ...options,
  });
  /** Asks for `count` frames; `work` is what the sender does after each. */
  const ask = async (count: number, work?: (index: number) => void) => {
    for (let i = 0; i < count; i += 1) {
      await pacer.next(ending.signal);
      gone.push(clock.now());
      work?.(i);
    }
  };
  /** Moves time on, after whatever is due already. */
  const run = async (ms: number, stepMs: number) => {
    await new Promise(setImmediate);
    await clock.run(ms, stepMs);
  };
  return { clock, ending, pacer, gone, late, skipped, ask, run };
}

describe('a pacer', () => {
  test.each([
    ['real time', 1, 20, 20],
    ['twice real time', 2, 20, 10],
    ['half real time', 0.5, 20, 40],
    ['frames of 7 ms', 1, 7, 7],
    ['frames of 100 ms at four times real time', 4, 100, 25],
  ])('at %s releases each frame when it is due', async (_what, factor, frameMs, interval) => {
    const { run, gone, skipped, ask } = pace({ pace: factor, frameMs });
    const asking = ask(50);
    await run(50 * interval, 1);
    await asking;
    expect(gone).toEqual(Array.from({ length: 50 }, (_, i) => i * interval));
    expect(skipped).toEqual([]);
  });

  test('counts from its first frame, not from its creation', async () => {
    const { clock, run, gone, ask } = pace();
    clock.advance(1_000);
    const asking = ask(3);
    await run(100, 5);
    await asking;
    expect(gone).toEqual([1_000, 1_020, 1_040]);
  });

  test('does not drift, however late frames are and however long the work after them takes', async () => {
    const { clock, run, gone, ask } = pace();
    // A clock that moves in steps of 7 ms is late by up to 6 ms each time; the sender takes 3 ms more.
    const asking = ask(1_000, () => clock.advance(3));
    await run(1_000 * 20 + 100, 7);
    await asking;
    const lateness = gone.map((at, i) => at - i * 20);
    expect(Math.min(...lateness)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...lateness)).toBeLessThanOrEqual(20);
    expect(lateness.at(-1)).toBeLessThanOrEqual(20);
  });

  test('reports how late each frame was released', async () => {
    const { clock, late, ask } = pace();
    await ask(1);
    clock.advance(35);
    await ask(1);
    const asking = ask(1);
    clock.advance(5);
    await asking;
    expect(late).toEqual([0, 15, 0]);
  });

  test('catches up on up to 10 frames at once', async () => {
    const { clock, run, gone, skipped, ask } = pace();
    await ask(1);
    clock.advance(220);
    const asking = ask(12);
    await run(100, 20);
    await asking;
    expect(gone.slice(1)).toEqual([...Array<number>(11).fill(220), 240]);
    expect(skipped).toEqual([]);
  });

  test('restarts if it is later than that, and reports by how much', async () => {
    const { clock, run, gone, skipped, ask } = pace();
    await ask(1);
    clock.advance(221);
    const asking = ask(4);
    await run(100, 1);
    await asking;
    expect(gone.slice(1)).toEqual([221, 241, 261, 281]);
    expect(skipped).toEqual([201]);
  });

  test('measures lateness by its own pace', async () => {
    const { clock, skipped, ask } = pace({ pace: 10 });
    await ask(1);
    clock.advance(23);
    await ask(1);
    expect(skipped).toEqual([21]);
  });

  test('at "max" releases everything at once', async () => {
    const { clock, gone, ask } = pace({ pace: 'max' });
    await ask(1_000);
    expect([gone.length, clock.now(), clock.pending]).toEqual([1_000, 0, []]);
  });

  test.each([1, 'max'] as const)(
    'at %s rejects with the signal’s reason where that was aborted before',
    async (factor) => {
      const { pacer, ending } = pace({ pace: factor });
      ending.abort(new Error('enough'));
      await expect(pacer.next(ending.signal)).rejects.toThrow('enough');
    },
  );

  test('rejects with the signal’s reason while it waits, and leaves no timer', async () => {
    const { clock, pacer, ending } = pace();
    await pacer.next(ending.signal);
    const next = pacer.next(ending.signal);
    expect(clock.pending).toEqual([20]);
    ending.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    expect(clock.pending).toEqual([]);
  });
});
