import { expect, test } from 'vitest';
import { ListenerBudget } from '../../../src/audio/verdict/listener-budget.ts';

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
