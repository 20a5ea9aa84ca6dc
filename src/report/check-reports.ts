import type { CheckResult } from '../conformance/check.ts';
import type { Judged } from '../conformance/judge.ts';
import type { Verdict } from '../rules/rule.ts';
import { exchangeLine, maxExchanges } from './check-evidence.ts';
import type { VerdictReport } from './verdict-reports.ts';

export interface CheckReport {
  /** What was checked, for people: `https://voice.example`. */
  name: string;
  startedAt: number;
  result: CheckResult;
  /** Whether `warn` and `unknown` count as failures. */
  strict: boolean;
}

/** A check, for the reports that pipelines read. */
export function checkReport({ name, startedAt, result, strict }: CheckReport): VerdictReport {
  const { rules, spent } = result;
  return {
    ...result,
    command: 'check',
    name,
    noun: 'rule',
    startedAt,
    items: rules.map((judged) => {
      const { rule, finding, evidence, expected } = judged;
      return {
        ...rule,
        finding,
        expected,
        seconds: 0,
        lines: evidence.slice(0, maxExchanges).map((seen) => `${seen.id}: ${exchangeLine(seen)}`),
        isFailed: isFailed(judged, strict),
      };
    }),
    properties: [
      ['tokenRequests', String(spent.tokens)],
      ['connections', String(spent.connections)],
    ],
  };
}

/** Whether a rule counts as failed. */
function isFailed({ finding, expected }: Judged, strict: boolean): boolean {
  const bad: readonly Verdict[] = strict ? ['fail', 'warn', 'unknown'] : ['fail'];
  return bad.includes(finding.verdict) && expected === undefined;
}
