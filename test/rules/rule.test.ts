import { describe, expect, test } from 'vitest';
import { serviceRules } from '../../src/rules/catalogue.ts';
import { type Finding, mostSevere, pass, show, type Verdict } from '../../src/rules/rule.ts';
import { seenAs } from '../helpers/device-exchanges.ts';
import { answered } from '../helpers/service-exchanges.ts';

const finding = (verdict: Verdict, ...evidence: string[]): Finding => ({
  verdict,
  message: verdict,
  evidence,
});

describe('the most severe of several findings', () => {
  const order: Verdict[] = ['fail', 'warn', 'observed', 'pass', 'unknown', 'skipped'];
  test.each(order.slice(1).map((lesser, at) => [order[at]!, lesser] as const))(
    'is %s before %s',
    (graver, lesser) => {
      expect(mostSevere([finding(lesser), finding(graver)])).toEqual(finding(graver));
    },
  );

  test('has the evidence of all equally severe ones, each once, and the message of the first', () => {
    const findings = [finding('fail', 'E1', 'E2'), finding('pass', 'E3'), finding('fail', 'E2', 'E4')];
    expect(mostSevere(findings)).toEqual({
      ...finding('fail', 'E1', 'E2', 'E4'),
      each: [findings[0], findings[2]],
    });
    expect(mostSevere([mostSevere(findings), finding('fail', 'E5')])?.each).toHaveLength(3);
  });

  test('is none if there is none', () => {
    expect(mostSevere([])).toBeUndefined();
    expect(mostSevere([undefined])).toBeUndefined();
  });
});

test('names an exchange once as evidence', () => {
  const [one] = seenAs(answered());
  expect(pass('', [one!, one!]).evidence).toEqual(['X1']);
  expect(pass('', one!).evidence).toEqual(['X1']);
});

test.each([
  ['short', '"short"'],
  [undefined, 'missing'],
  ['x'.repeat(58), `"${'x'.repeat(58)}"`],
  ['x'.repeat(59), `"${'x'.repeat(58)}…`],
  [`${'x'.repeat(57)}😀b`, `"${'x'.repeat(57)}…`],
  [['x', null], '["x",null]'],
])('a message shows %s as %s', (value, shown) => {
  expect(show(value)).toBe(shown);
});

test('a message shows what is nested too deeply as a note', () => {
  const deep: unknown = JSON.parse(`{"error":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
  expect(show(deep)).toBe('(nested too deeply)');
});

test('the rules of a service are R1 to R45, in order', () => {
  expect(serviceRules.map(({ id }) => id)).toEqual(Array.from({ length: 45 }, (_, index) => `R${index + 1}`));
});

test.each(serviceRules)('$id says nothing if there is nothing to see', ({ judge }) => {
  expect(judge([])).toBeUndefined();
});
