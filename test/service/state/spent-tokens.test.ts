import { expect, test } from 'vitest';
import { createSpentTokens } from '../../../src/service/state/memory.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

test('a token is spent once, and dropped when it has expired', () => {
  const clock = createManualClock();
  const spent = createSpentTokens(clock);
  const exp = clock.wall() / 1000 + 60;
  expect(spent.has('a')).toBe(false);
  expect([spent.add('a', exp), spent.add('a', exp), spent.add('b', exp + 10)]).toEqual([true, false, true]);
  clock.advance(59_999);
  spent.add('c', exp + 60);
  expect(['a', 'b', 'c'].map(spent.has)).toEqual([true, true, true]);
  clock.advance(1);
  spent.add('d', exp + 60);
  expect(['a', 'b', 'c'].map(spent.has)).toEqual([false, true, true]);
});

test('of tokens that do not expire, the newest are remembered', () => {
  const clock = createManualClock();
  const spent = createSpentTokens(clock, 2);
  const exp = clock.wall() / 1000 + 86_400;
  for (const jti of ['a', 'b', 'c']) spent.add(jti, exp);
  clock.advance(86_000_000);
  expect(['a', 'b', 'c'].map(spent.has)).toEqual([false, true, true]);
});
