import { expect, test } from 'vitest';
import type { Judged } from '../../src/conformance/judge.ts';
import { countVerdicts, exitCodeOf } from '../../src/conformance/verdicts.ts';
import { checkPage, drillPage } from '../../src/report/verdict-page.ts';
import type { Verdict } from '../../src/rules/rule.ts';

const found = (id: string, verdict: Verdict, expected?: string) => ({
  rule: { id, title: 'a rule', says: 'a sentence', section: 'a section' } as Judged['rule'],
  finding: { verdict, message: 'a message', evidence: [] },
  evidence: [],
  expected,
});
/** What the page says of a run with `--strict` or without it. */
const verdictIn = (page: string) =>
  /(?:With --strict|No rule|Only|\d+ rules?)[^.:]*: [^.]*\./.exec(page)?.[0];

test.each([
  ['an unexpected fail', [found('R1', 'fail'), found('R2', 'fail', 'known')], true, '1 rule broken'],
  [
    'an expected fail beside a warning',
    [found('R1', 'fail', 'known'), found('R2', 'warn')],
    true,
    'With --strict, warn and unknown are failures',
  ],
  ['an expected fail', [found('R1', 'fail', 'known')], false, 'Only what is expected to fail is broken'],
] as const)('the page of a check says why it failed: %s', (_what, rules, strict, why) => {
  const exitCode = exitCodeOf(rules, undefined, strict);
  const verdicts = countVerdicts(rules);
  const spent = { tokens: 0, streams: 0, seconds: 0 } as never;
  const result = { rules, verdicts, exitCode, spent, stopped: undefined, elapsedMs: 1_000 };
  expect(verdictIn(checkPage({ subject: 'x', startedAt: 0, result }))).toContain(`${why}: `);
});

test('the page of a drill counts a rule that was broken in several situations once', () => {
  const drilled = ['D5a', 'D5b', 'D5c'].map((situation) => ({
    ...found('D5', 'fail'),
    ...{ id: situation, situation, title: 'a situation', elapsedMs: 1, output: [] },
  })) as never[];
  const result = { drilled, verdicts: countVerdicts(drilled), exitCode: 1, stopped: undefined, elapsedMs: 1 };
  const command = { flags: [], device: [] };
  expect(verdictIn(drillPage({ subject: 'x', command, startedAt: 0, result }))).toBe(
    '1 rule broken: 0 pass, 3 fail.',
  );
});
