import { describe, expect, test } from 'vitest';
import { serviceRules } from '../../src/rules/catalogue.ts';
import { check, complaints, everything } from '../helpers/checks.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { elsewhere, mutants } from './mutants.ts';

const levels = { base: ['base'], standard: ['base', 'standard'], exhaust: [...everything] } as const;

test('the service that is not changed breaks no rule', async () => {
  await using service = await startMiniService();
  const result = await check(service, { scope: { levels: everything } });
  expect(complaints(result)).toEqual([]);
  const transport = result.rules.find(({ rule }) => rule.id === 'R32')?.finding;
  expect(transport).toMatchObject({ verdict: 'skipped', message: 'not applicable within this machine' });
});

test('nor over TLS, on what could be another machine', async () => {
  await using service = await startMiniService({ host: elsewhere, certificateFor: [elsewhere] });
  const result = await check(service);
  expect(complaints(result)).toEqual([]);
  expect(result.rules.find(({ rule }) => rule.id === 'R32')?.finding.verdict).toBe('pass');
  expect(result.spent).toEqual({ tokens: 11, plain: 4, connections: 8 });
});

test('every rule has a mutant', () => {
  const rules = serviceRules.map(({ id }) => id);
  expect(rules.filter((id) => !mutants.some(({ rule }) => rule === id))).toEqual([]);
});

describe.concurrent('a service that breaks one rule', () => {
  test.for(mutants)(
    '$rule: it $does',
    async ({ rule, change, verdict = 'fail', also = [], level = 'base' }) => {
      await using service = await startMiniService(change);
      const result = await check(service, { scope: { levels: new Set(levels[level]) } });
      const caught = result.rules.find((one) => one.rule.id === rule);
      expect([verdict].flat(), caught?.finding.message).toContain(caught?.finding.verdict);
      const others = result.rules.filter(({ finding, rule: other }) => {
        return ['fail', 'warn'].includes(finding.verdict) && other.id !== rule && !also.includes(other.id);
      });
      expect(others.map(({ rule: other, finding }) => `${other.id}: ${finding.message}`)).toEqual([]);
    },
  );
});
