import { describe, expect, test } from 'vitest';
import { serviceRules } from '../../src/rules/catalogue.ts';
import { check, complaints, everything } from '../helpers/checks.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { mutants } from './mutants.ts';

test('the service that is not changed keeps every rule', async () => {
  await using service = await startMiniService();
  expect(complaints(await check(service, { scope: { levels: everything } }))).toEqual([]);
});

/** Within one machine there is no TLS to break: that rule is tested with certificates. */
const elsewhere: readonly string[] = ['R32'];

test('every rule has a mutant', () => {
  const rules = serviceRules.map(({ id }) => id).filter((id) => !elsewhere.includes(id));
  expect(rules.filter((id) => !mutants.some(({ rule }) => rule === id))).toEqual([]);
});

describe.concurrent('a service that breaks one rule', () => {
  test.for(mutants)('$rule: it $does', async ({ rule, change, verdict = 'fail', also = [], level }) => {
    await using service = await startMiniService(change);
    const result = await check(service, {
      scope: { levels: level === undefined ? new Set(['base']) : everything },
    });
    const caught = result.rules.find((one) => one.rule.id === rule);
    expect(caught?.finding.verdict, caught?.finding.message).toBe(verdict);
    const others = result.rules.filter(({ finding, rule: other }) => {
      return ['fail', 'warn'].includes(finding.verdict) && other.id !== rule && !also.includes(other.id);
    });
    expect(others.map(({ rule: other, finding }) => `${other.id}: ${finding.message}`)).toEqual([]);
  });
});
