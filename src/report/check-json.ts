import type { CheckResult } from '../conformance/check.ts';
import { totalOf } from '../conformance/cost.ts';
import type { Judged } from '../conformance/judge.ts';
import type { Plan } from '../conformance/plan.ts';
import { version } from '../kernel/version.ts';
import { evidenceJson } from './check-evidence.ts';

/** One rule, as a line of JSON. */
export function ruleObject({ rule, finding, evidence, expected }: Judged) {
  return {
    type: 'rule',
    id: rule.id,
    title: rule.title,
    section: rule.section,
    says: rule.says,
    verdict: finding.verdict,
    message: finding.message,
    exchanges: finding.evidence,
    evidence: evidenceJson(evidence),
    ...(expected === undefined ? {} : { expected }),
  };
}

/** The last line. `requests` are those over HTTP, with and without a key. */
export function checkSummaryObject({ verdicts, spent, stopped, exitCode, elapsedMs }: CheckResult) {
  return {
    type: 'summary',
    version,
    verdicts,
    requests: spent.tokens + spent.plain,
    connections: spent.connections,
    cost: spent,
    stopped: stopped === undefined ? null : { code: stopped.code, message: stopped.message },
    elapsedMs: Math.round(elapsedMs),
    exitCode,
  };
}

/** What would be asked, as one object. */
export function planObject({ steps, cost, confirmCost, durationMs }: Plan) {
  return {
    type: 'plan',
    version,
    steps: steps.map(({ id, title, level, cost: own, after }) => ({
      id,
      title,
      level,
      cost: own,
      after: after ?? null,
    })),
    cost,
    confirmCost,
    requests: totalOf(cost),
    durationMs: Math.round(durationMs),
  };
}
