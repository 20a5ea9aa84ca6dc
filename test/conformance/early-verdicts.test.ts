import { expect, test } from 'vitest';
import type { Judged } from '../../src/conformance/judge.ts';
import { check } from '../helpers/checks.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { hastyClock } from '../helpers/hasten.ts';

const start = setUpEmulators();

test('a rule is judged as soon as all its exchanges are over, and once more at the end', async () => {
  const emulator = await start({ reply: 'echo', clock: hastyClock });
  const told: string[] = [];
  const result = await check(emulator, {
    isEmulator: true,
    onStep: ({ id }) => told.push(`asks ${id}`),
    onJudged: ({ rule, finding }: Judged, isFinal: boolean) =>
      told.push(`${rule.id} ${finding.verdict}${isFinal ? '' : ' for now'}`),
  });
  const at = (text: string) => told.indexOf(text);
  // E1 alone tells R12; R15 is about E4, which comes later.
  expect(at('R12 pass for now')).toBeGreaterThan(at('asks E1'));
  expect(at('R12 pass for now')).toBeLessThan(at('asks E2'));
  expect(at('R15 pass for now')).toBeGreaterThan(at('asks E4'));
  expect(told.slice(-result.rules.length)).toEqual(
    result.rules.map(({ rule, finding }) => `${rule.id} ${finding.verdict}`),
  );
});

test('the cost is reported as it grows, and ends as it is in the result', async () => {
  const emulator = await start({ reply: 'echo', clock: hastyClock });
  const costs: unknown[] = [];
  const { spent } = await check(emulator, {
    scope: { rules: ['R2'] },
    isEmulator: true,
    onSpent: (cost) => costs.push(cost),
  });
  expect(costs.length).toBe(spent.tokens + spent.connections + spent.plain);
  expect(costs.at(-1)).toEqual(spent);
});
