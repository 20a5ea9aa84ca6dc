import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createPulse } from '../../src/wire/pulse.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

const periodMs = 20;

function start() {
  const clock = createManualClock();
  return { clock, pulse: createPulse({ clock, periodMs }) };
}

test('a member is called 50 times a second', () => {
  const { clock, pulse } = start();
  let calls = 0;
  pulse.add(() => {
    calls += 1;
  });
  clock.advance(0);
  calls = 0;
  clock.advance(60_000);
  expect(calls).toBe(3_000);
});

test('calls are a period apart, and the first one comes within a period', () => {
  const { clock, pulse } = start();
  const at: number[] = [];
  clock.advance(1_234.5);
  pulse.add(() => at.push(clock.now()));
  clock.advance(200);
  expect(at[0]).toBeLessThanOrEqual(1_234.5 + periodMs);
  const gaps = at.slice(1).map((time, i) => time - at[i]!);
  expect(gaps.every((gap) => Math.abs(gap - periodMs) < 1e-6)).toBe(true);
});

test('a hundred members are each called 50 times a second, at four moments of a period', () => {
  const { clock, pulse } = start();
  const calls = new Map<number, number>();
  const moments = new Set<number>();
  for (let member = 0; member < 100; member += 1) {
    pulse.add(() => {
      calls.set(member, (calls.get(member) ?? 0) + 1);
      moments.add(Math.round((clock.now() % periodMs) * 1000) % (periodMs * 1000));
    });
  }
  clock.advance(periodMs);
  calls.clear();
  clock.advance(1_000);
  expect(new Set(calls.values())).toEqual(new Set([50]));
  expect(calls.size).toBe(100);
  expect([...moments].sort((a, b) => a - b)).toEqual([0, 5_000, 10_000, 15_000]);
});

test('a member that joins during a call is called from the next period on, once per period', () => {
  const { clock, pulse } = start();
  const at: number[] = [];
  const leave = pulse.add(() => {
    leave();
    for (let i = 0; i < 8; i += 1) pulse.add(() => at.push(clock.now()));
  });
  clock.advance(0);
  expect(at).toEqual([]);
  clock.advance(periodMs);
  expect(at).toHaveLength(8);
  clock.advance(periodMs);
  expect(at).toHaveLength(16);
});

test('a member that leaves during a call is not called any more, even if its turn was still to come', () => {
  const { clock, pulse } = start();
  const calls: string[] = [];
  const leaves: (() => void)[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    leaves.push(
      pulse.add(() => {
        calls.push(name);
        for (const leave of leaves) leave();
      }),
    );
  }
  clock.advance(1_000);
  expect(calls).toEqual(['a']);
});

test('leaving twice is harmless, and an empty pulse sets no timer', () => {
  let timers = 0;
  const clock = createManualClock();
  const counted = {
    ...clock,
    after(...args: Parameters<typeof clock.after>) {
      timers += 1;
      return clock.after(...args);
    },
  };
  const pulse = createPulse({ clock: counted, periodMs });
  const leave = pulse.add(() => {});
  leave();
  leave();
  const before = timers;
  clock.advance(1_000);
  expect(timers).toBe(before);
});

test('a closed pulse calls no member', () => {
  const { clock, pulse } = start();
  let calls = 0;
  pulse.add(() => {
    calls += 1;
  });
  pulse.close();
  clock.advance(1_000);
  expect(calls).toBe(0);
});

describe('a late process', () => {
  /** A pulse whose timers fire only when the test says so: late. */
  function startLate() {
    let now = 0;
    let due: (() => void) | undefined;
    const clock = {
      ...systemClock,
      now: () => now,
      after: (_ms: number, call: () => void) => {
        due = call;
        return { cancel: () => {} };
      },
    };
    const pulse = createPulse({ clock, periodMs });
    const fireAt = (ms: number) => {
      now = ms;
      due?.();
    };
    return { pulse, fireAt };
  }

  test('catches up with what it missed', () => {
    const { pulse, fireAt } = startLate();
    let calls = 0;
    pulse.add(() => {
      calls += 1;
    });
    fireAt(0);
    fireAt(200);
    expect([calls, pulse.skipped]).toEqual([11, 0]);
  });

  test('catches up by at most ten periods, and counts what it skipped', () => {
    const { pulse, fireAt } = startLate();
    let calls = 0;
    pulse.add(() => {
      calls += 1;
    });
    fireAt(0);
    fireAt(10_000);
    expect(calls).toBeLessThanOrEqual(12);
    expect(pulse.skipped).toBeGreaterThan(480);
    const before = calls;
    fireAt(10_020);
    expect(calls).toBe(before + 1);
  });

  /** A pulse whose first call takes 30 ms: the next one is due meanwhile. */
  function startSlow() {
    const clock = createManualClock();
    const delays: number[] = [];
    const after: typeof clock.after = (delayMs, call) => {
      delays.push(delayMs);
      return clock.after(delayMs, call);
    };
    const pulse = createPulse({ clock: { ...clock, after }, periodMs });
    const due: number[] = [];
    pulse.add((at) => {
      due.push(at);
      if (due.length === 1) clock.advance(30);
    });
    clock.advance(0);
    return { pulse, due, delays };
  }
  const nextTurn = () => new Promise(setImmediate);

  test('calls members that became due during a call without a timer, which takes at least a millisecond', async () => {
    const { due, delays } = startSlow();
    expect(due).toEqual([0]);
    await nextTurn();
    expect(due).toEqual([0, 20]);
    expect(delays).toEqual([0, 10]);
  });

  test('that is closed meanwhile calls no member', async () => {
    const { pulse, due } = startSlow();
    pulse.close();
    await nextTurn();
    expect(due).toEqual([0]);
  });
});
