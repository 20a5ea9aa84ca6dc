import { expect, test } from 'vitest';
import { ListenerBudget } from '../../../src/audio/verdict/listener-budget.ts';
import { VoiceCheck } from '../../../src/audio/verdict/voice-check.ts';

test('reports once that there are more voices than it listens to', () => {
  const said: number[] = [];
  const budget = new ListenerBudget((most) => said.push(most));
  const listened = Array.from({ length: 20 }, () => budget.acquire()).filter((one) => one !== undefined);
  expect([listened.length, said]).toEqual([16, [16]]);
  budget.release();
  expect(budget.acquire()).toBeDefined();
  expect(budget.acquire()).toBeUndefined();
  expect(said).toEqual([16]);
});

test('a voice that has ended makes room for another one', () => {
  const budget = new ListenerBudget(() => {});
  const begin = () => {
    const check = new VoiceCheck({ from: 'device', clock: { now: () => 0 }, budget });
    check.push(Buffer.alloc(640));
    return check;
  };
  const most = Array.from({ length: 16 }, begin);
  expect(begin().unjudged).toBe('too many voices at once');
  most[0]?.end();
  expect(begin().unjudged).not.toBe('too many voices at once');
  expect(begin().unjudged).toBe('too many voices at once');
});
