import type { CheckResult } from '../conformance/check.ts';
import type { Judged } from '../conformance/judge.ts';
import type { Verdict } from '../rules/rule.ts';
import { exchangeLine } from './check-evidence.ts';
import { annotation, maxAnnotations, table } from './github.ts';
import { suitesXml, type TestCase } from './junit-suites.ts';

export interface CheckReport {
  /** What was checked, for people: `check https://voice.example`. */
  name: string;
  startedAt: number;
  result: CheckResult;
  /** Whether `warn` and `unknown` count as failures. */
  strict: boolean;
}

/** Whether a rule counts as failed. */
function isFailed({ finding, expected }: Judged, strict: boolean): boolean {
  const bad: readonly Verdict[] = strict ? ['fail', 'warn', 'unknown'] : ['fail'];
  return bad.includes(finding.verdict) && expected === undefined;
}

/** A case for each rule, in the form that pipelines read. */
export function checkJunit({ name, startedAt, result, strict }: CheckReport): string {
  const { rules, stopped, exitCode, elapsedMs, spent } = result;
  const cases = rules.map((judged) => ruleCase(judged, strict));
  if (stopped !== undefined) {
    const outcome = { element: 'error', type: stopped.code, message: stopped.message } as const;
    cases.unshift({ name: 'run', classname: 'voicectl.check', seconds: elapsedMs / 1000, outcome, out: [] });
  }
  const properties = [
    ['exitCode', String(exitCode)],
    ['tokenRequests', String(spent.tokens)],
    ['connections', String(spent.connections)],
  ] as const;
  return suitesXml([{ name, startedAt, seconds: elapsedMs / 1000, properties, cases }]);
}

function ruleCase(judged: Judged, strict: boolean): TestCase {
  const { rule, finding, evidence, expected } = judged;
  const { message } = finding;
  const common = { name: `${rule.id}: ${rule.title}`, classname: 'voicectl.check', seconds: 0 };
  const out = [
    rule.says,
    `${finding.verdict}: ${message}`,
    ...evidence.slice(0, 6).map((seen) => `${seen.id}: ${exchangeLine(seen)}`),
  ];
  if (isFailed(judged, strict))
    return { ...common, outcome: { element: 'failure', type: finding.verdict, message }, out };
  const isLeftOut =
    finding.verdict === 'skipped' || finding.verdict === 'unknown' || finding.verdict === 'fail';
  const why = expected === undefined ? message : `expected: ${expected}`;
  return isLeftOut
    ? { ...common, outcome: { element: 'skipped', type: finding.verdict, message: why }, out }
    : { ...common, out };
}

/** Workflow commands that mark each failed rule. */
export function checkAnnotations({ name, result, strict }: CheckReport): string[] {
  const { rules, stopped } = result;
  const failed = rules.filter((judged) => isFailed(judged, strict));
  const lines = failed.map(({ rule, finding }) =>
    annotation(`voicectl ${name}: ${rule.id} ${rule.title}`, finding.message),
  );
  if (stopped !== undefined) lines.unshift(annotation(`voicectl ${name}: ${stopped.code}`, stopped.message));
  return lines.slice(0, maxAnnotations);
}

/** The result as Markdown, for the page of the workflow's run. */
export function checkStepSummary({ name, result }: CheckReport): string {
  const { rules, verdicts, exitCode } = result;
  const mark = exitCode === 0 ? '✅' : '❌';
  const told = rules.filter(({ finding }) => finding.verdict !== 'pass' && finding.verdict !== 'skipped');
  const rows = told.map(({ rule, finding }) => [
    rule.id,
    `**${finding.verdict}**`,
    rule.title,
    finding.message,
  ]);
  const counts = Object.entries(verdicts).map(([verdict, count]) => `${count} ${verdict}`);
  return `### ${mark} voicectl ${name.replace(/[\\`*_<>|]/g, '\\$&')}\n\n${counts.join(', ')}\n\n${table(['rule', 'verdict', 'title', 'what was seen'], rows)}\n`;
}
