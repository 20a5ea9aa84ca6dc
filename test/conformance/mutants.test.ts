import { afterAll, describe, expect, test, vi } from 'vitest';
import { controlsOf } from '../../src/conformance/needed.ts';
import type { PlanOptions } from '../../src/conformance/plan.ts';
import { serviceRules } from '../../src/rules/catalogue.ts';
import { check, complaints, everything } from '../helpers/checks.ts';
import { type MiniBehaviour, startMiniService } from '../helpers/mini-service.ts';
import { elsewhere, mutants } from './mutants.ts';

// A step of the moved clock takes as long for many as for one.
vi.setConfig({ maxConcurrency: 12 });

/** With `TABLE=1`, as in `npm run conformance`, all of them. */
const asked = mutants.filter(({ isAlike }) => isAlike !== true || process.env.TABLE !== undefined);

const levels = { base: ['base'], standard: ['base', 'standard'], exhaust: [...everything] } as const;

test('the unchanged service breaks no rule', async () => {
  await using service = await startMiniService();
  const result = await check(service, { scope: { levels: everything } });
  expect(complaints(result)).toEqual([]);
  const transport = result.rules.find(({ rule }) => rule.id === 'R32')?.finding;
  expect(transport).toMatchObject({ verdict: 'skipped', message: 'not applicable on loopback' });
});

test('nor over TLS, on what could be another machine', async () => {
  await using service = await startMiniService({ host: elsewhere, certificateFor: [elsewhere] });
  const result = await check(service);
  expect(complaints(result)).toEqual([]);
  expect(result.rules.find(({ rule }) => rule.id === 'R32')?.finding.verdict).toBe('pass');
  expect(result.spent).toEqual({ tokens: 11, plain: 4, connections: 9 });
});

test('nor does one that needs almost a second to give a slot back', async () => {
  await using service = await startMiniService({ slotBackMs: 900 });
  const result = await check(service, { scope: { rules: ['R44'] }, isEmulator: true });
  expect(result.rules.map(({ finding }) => finding)).toMatchObject([{ verdict: 'pass' }]);
});

test('every rule has a mutant', () => {
  const rules = serviceRules.map(({ id }) => id);
  expect(rules.filter((id) => !asked.some(({ rule }) => rule === id))).toEqual([]);
});

/** A line for each of them, and how many were told: with `TABLE=1`, or `npm run conformance`. */
const table: string[] = [];
afterAll(() => {
  if (process.env.TABLE === undefined) return;
  const told = table.filter((line) => line.endsWith(' 0 |')).length;
  const lines = [
    '| rule | the service | told | unrelated |',
    '| --- | --- | --- | --- |',
    ...table.toSorted(byRule),
  ];
  console.log(`${lines.join('\n')}\n\n${told} of ${asked.length} told, and nothing unrelated`);
});
const byRule = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });

describe.concurrent('a service that breaks one rule', () => {
  test.for(asked)(
    '$rule: it $does',
    async ({ rule, does, change, verdict = 'fail', also = [], level = 'base', exitCode, waitMs = 200 }) => {
      await using service = await startMiniService(change);
      const result = await check(service, { scope: { levels: new Set(levels[level]), waitMs } });
      const caught = result.rules.find((one) => one.rule.id === rule);
      expect([verdict].flat(), caught?.finding.message).toContain(caught?.finding.verdict);
      expect(exitCode ?? (caught?.finding.verdict === 'fail' ? 1 : 0)).toBe(result.exitCode);
      const others = result.rules.filter(({ finding, rule: other }) => {
        return ['fail', 'warn'].includes(finding.verdict) && other.id !== rule && !also.includes(other.id);
      });
      table.push(`| ${rule} | ${does} | ${caught?.finding.verdict} | ${others.length} |`);
      expect(others.map(({ rule: other, finding }) => `${other.id}: ${finding.message}`)).toEqual([]);
    },
  );
});

describe.concurrent('a rule that is asked alone is told as it is among all', () => {
  test.for(asked.filter(({ rule }) => controlsOf(rule).length > 0))(
    '$rule: it $does',
    async ({ rule, change, verdict = 'fail' }) => {
      await using service = await startMiniService(change);
      const result = await check(service, { scope: { rules: [rule] }, isEmulator: true });
      const [told] = result.rules;
      expect([verdict].flat(), told?.finding.message).toContain(told?.finding.verdict);
    },
  );
});

describe('Remaining that falls by two', () => {
  /** Somebody else asks for a token of this device before each request of the run. */
  const shared = (names: readonly string[]): Partial<MiniBehaviour> => ({
    remaining: (left, { fields }) => (names.includes(String(fields.deviceId)) ? 2 * left - 60 : left),
  });
  const told = async (scope: Partial<PlanOptions>) => {
    await using service = await startMiniService(shared(['check-device']));
    const { rules, exitCode } = await check(service, { scope });
    const { verdict } = rules.find(({ rule }) => rule.id === 'R25')!.finding;
    return `${verdict}, exit code ${exitCode}`;
  };

  test('is nobody’s fault if it falls by one on a device that nobody else uses', async () => {
    expect(await told({})).toBe('pass, exit code 0');
    expect(await told({ rules: ['R25'] })).toBe('pass, exit code 0');
  });

  test('is not settled if there is no other device', async () => {
    expect(await told({ isAlone: true })).toBe('unknown, exit code 0');
  });
});

describe('an error in another shape, among others that have the right one,', () => {
  const flat: MiniBehaviour['intercept'] = (_request, response) => {
    response.writeHead(429, { 'Content-Type': 'application/json' }).end('{"code":"NO","message":"no"}');
    return true;
  };
  const told = async (intercept: MiniBehaviour['intercept'], rules: readonly string[]) => {
    await using service = await startMiniService({ intercept });
    const result = await check(service, { scope: { rules }, isEmulator: true });
    const { finding } = result.rules.find(({ rule }) => rule.id === 'R21')!;
    return { verdict: finding.verdict, evidence: finding.evidence };
  };

  test('fails if it is seen again, although the rule itself does not ask for that exchange', async () => {
    const asked = new Map<unknown, number>();
    const overLimit: MiniBehaviour['intercept'] = (request, response) => {
      const { deviceId } = request.fields;
      const count = asked.get(deviceId) ?? 0;
      if (request.problem === undefined) asked.set(deviceId, count + 1);
      return count >= 60 && flat(request, response);
    };
    expect(await told(overLimit, ['R21', 'R30'])).toEqual({ verdict: 'fail', evidence: ['X-61', 'X-1/2'] });
  });

  test('stays unknown if that exchange is not repeated: a wrong key is sent only once', async () => {
    const wrongKey: MiniBehaviour['intercept'] = (request, response) =>
      request.fields.apiKey === 'voicectl-wrong-key' && flat(request, response);
    expect(await told(wrongKey, ['R21'])).toEqual({ verdict: 'unknown', evidence: ['E10'] });
  });
});
