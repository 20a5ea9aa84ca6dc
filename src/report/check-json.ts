import type { AgainResult, AskedAgain } from '../conformance/again.ts';
import type { CheckResult } from '../conformance/check.ts';
import { totalOf } from '../conformance/cost.ts';
import type { Judged } from '../conformance/judge.ts';
import type { Plan } from '../conformance/plan.ts';
import { version } from '../kernel/version.ts';
import { type EvidenceJson, evidenceJson, exchangeJson } from './check-evidence.ts';

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

/** One exchange that was asked again, whole. */
export function exchangeObject({ seen, step }: AskedAgain) {
  const { id, ...body }: ExchangeFields = exchangeJson(seen, true);
  return { type: 'exchange', id, step: step.id, title: step.title, ...body };
}

/** What an exchange has, a token request or a stream. */
type ExchangeFields = Pick<EvidenceJson, 'id' | 'at' | 'request' | 'answer' | 'error'> &
  Partial<Omit<Extract<EvidenceJson, { token: unknown }>, 'id' | 'at' | 'request' | 'answer' | 'error'>> &
  Partial<Omit<Extract<EvidenceJson, { close: unknown }>, 'id' | 'at' | 'request' | 'answer' | 'error'>>;

type SpentRun = Pick<CheckResult, 'verdicts' | 'spent' | 'stopped' | 'exitCode' | 'elapsedMs'> &
  Partial<Pick<AgainResult, 'leftOut'>>;

/** The last line. `requests` are those over HTTP, with and without a key. `leftOut`: only with `--again`. */
export function checkSummaryObject({ verdicts, spent, stopped, leftOut, exitCode, elapsedMs }: SpentRun) {
  return {
    type: 'summary',
    version,
    verdicts,
    requests: spent.tokens + spent.plain,
    connections: spent.connections,
    cost: spent,
    stopped: stopped === undefined ? null : { code: stopped.code, message: stopped.message },
    ...(leftOut === undefined ? {} : { leftOut: Array.from(leftOut, ([step, why]) => ({ step, why })) }),
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
