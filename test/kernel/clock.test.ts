import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import {
  atTickEnd,
  atTurnEnd,
  type Clock,
  createMovableClock,
  repeat,
  systemClock,
  waitUntil,
} from '../../src/kernel/clock.ts';
import { createCountedClock } from '../helpers/counted-clock.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

describe('a movable clock', () => {
  test('calls what became due in the order of due times, each at its own time', () => {
    const clock = createManualClock();
    const calls: [string, number][] = [];
    const note = (name: string) => () => calls.push([name, clock.now()]);
    clock.after(30, note('c'));
    clock.after(10, note('a'));
    clock.after(20, note('b'));
    clock.after(41, note('late'));
    clock.advance(40);
    expect(calls).toEqual([
      ['a', 10],
      ['b', 20],
      ['c', 30],
    ]);
    expect(clock.now()).toBe(40);
  });

  test('calls what is due at the same time in the order in which it was set', () => {
    const clock = createManualClock();
    const calls: string[] = [];
    for (const name of ['a', 'b', 'c']) clock.after(5, () => calls.push(name));
    clock.advance(5);
    expect(calls).toEqual(['a', 'b', 'c']);
  });

  test('calls timers that are set by timers, within the time moved', () => {
    const clock = createManualClock();
    const calls: number[] = [];
    const again = () => {
      calls.push(clock.now());
      clock.after(20, again);
    };
    clock.after(20, again);
    clock.advance(70);
    expect(calls).toEqual([20, 40, 60]);
    clock.advance(10);
    expect(calls).toEqual([20, 40, 60, 80]);
  });

  test('does not call what was cancelled, even by a timer of the same move', () => {
    const clock = createManualClock();
    const calls: string[] = [];
    const second = clock.after(20, () => calls.push('second'));
    clock.after(10, () => second.cancel());
    clock.after(5, () => calls.push('first')).cancel();
    clock.advance(100);
    expect(calls).toEqual([]);
  });

  test('moves where nothing is due, and wall time moves with it', () => {
    const clock = createManualClock(1_000_000);
    clock.advance(500);
    expect([clock.now(), clock.wall()]).toEqual([500, 1_000_500]);
  });

  test('calls a timer once, even if time is moved past it several times', () => {
    const clock = createManualClock();
    let calls = 0;
    clock.after(10, () => {
      calls += 1;
    });
    for (let i = 0; i < 5; i += 1) clock.advance(10);
    expect(calls).toBe(1);
  });

  test('follows its base, and is ahead of it by the time moved', () => {
    const base = createManualClock();
    const clock = createMovableClock(base);
    const calls: number[] = [];
    clock.after(100, () => calls.push(clock.now()));
    clock.after(150, () => calls.push(clock.now()));
    base.advance(40);
    expect(clock.now()).toBe(40);
    clock.advance(60);
    expect([base.now(), clock.now()]).toEqual([40, 100]);
    base.advance(50);
    expect(clock.now()).toBe(150);
    expect(calls).toEqual([100, 150]);
  });

  test('on top of the machine’s clock calls a timer sooner when it is moved', async () => {
    const clock = createMovableClock(systemClock);
    const called = new Promise<void>((resolve) => clock.after(3_600_000, resolve));
    clock.advance(3_600_000);
    await called;
  });
});

describe('waiting', () => {
  test('ends at its deadline', async () => {
    const clock = createManualClock();
    const waited = waitUntil(clock, 50).then(() => clock.now());
    await clock.run(60);
    expect(await waited).toBe(50);
  });

  test('ends with the reason of the signal, and leaves no timer', async () => {
    const clock = createManualClock();
    const abort = new AbortController();
    const waited = waitUntil(clock, 50, abort.signal);
    abort.abort('enough');
    await expect(waited).rejects.toBe('enough');
    await expect(waitUntil(clock, 50, abort.signal)).rejects.toBe('enough');
    clock.advance(100);
  });
});

test('a movable clock passes on whether a timer keeps the process alive', () => {
  const asked: unknown[] = [];
  const base: Clock = {
    now: () => 0,
    wall: () => 0,
    after(_delayMs, _call, options) {
      asked.push(options?.background);
      return { cancel() {} };
    },
  };
  const clock = createMovableClock(base);
  clock.after(10, () => {});
  clock.after(10, () => {}, { background: true });
  clock.after(10, () => {}, { background: false });
  expect(asked).toEqual([false, true, false]);
});

test('a timer of the machine that is cancelled is never called, and one in the past is called at once', async () => {
  const calls: string[] = [];
  systemClock.after(0, () => calls.push('cancelled')).cancel();
  await new Promise<void>((resolve) => {
    systemClock.after(-1_000, () => {
      calls.push('past');
      resolve();
    });
  });
  expect(calls).toEqual(['past']);
});

test.each([
  [true, false],
  [false, true],
])('a timer of the machine in the background (%s) keeps the process: %s', (background, keeps) => {
  const count = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = count();
  const timer = systemClock.after(60_000, () => {}, { background });
  expect(count() > before).toBe(keeps);
  timer.cancel();
});

test('a finished wait no longer listens to its signal', async () => {
  const clock = createManualClock();
  const controller = new AbortController();
  const waiting = waitUntil(clock, 10, controller.signal);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  clock.advance(10);
  await waiting;
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('a wait ends at its deadline, whatever the clock shows at its start', async () => {
  const clock = createManualClock();
  clock.advance(1_000);
  let isOver = false;
  void waitUntil(clock, 1_500).then(() => {
    isOver = true;
  });
  await clock.run(499);
  expect(isOver).toBe(false);
  await clock.run(1);
  expect(isOver).toBe(true);
});

test('a repeated call happens at each interval until it is cancelled, even by the call itself', () => {
  const clock = createCountedClock();
  const calls: number[] = [];
  const timer = repeat(clock, 20, () => {
    calls.push(clock.now());
    if (clock.now() === 60) timer.cancel();
  });
  const other = repeat(clock, 50, () => calls.push(-clock.now()));
  clock.advance(59);
  other.cancel();
  clock.advance(1_000);
  expect(calls).toEqual([20, 40, -50, 60]);
  expect(clock.pending).toEqual([]);
});

test('a shorter delay of the machine comes before a longer one', async () => {
  const calls: string[] = [];
  await new Promise<void>((resolve) => {
    systemClock.after(40, () => {
      calls.push('long');
      resolve();
    });
    systemClock.after(1, () => calls.push('short'));
  });
  expect(calls).toEqual(['short', 'long']);
});

test('the end of a tick comes before the end of a turn, each with its subject', async () => {
  const calls: string[] = [];
  await new Promise<void>((resolve) => {
    atTurnEnd((name) => {
      calls.push(name);
      resolve();
    }, 'turn');
    atTickEnd((name) => calls.push(name), 'tick');
    calls.push('now');
  });
  expect(calls).toEqual(['now', 'tick', 'turn']);
});
