import type { Finding, Verdict } from '../rules/rule.ts';

/** The verdicts, in the order in which they are counted. */
export const verdictNames: readonly Verdict[] = ['pass', 'fail', 'warn', 'observed', 'unknown', 'skipped'];

export function countVerdicts(judged: readonly { finding: Finding }[]): Record<Verdict, number> {
  const count = (name: Verdict) => judged.filter(({ finding }) => finding.verdict === name).length;
  return Object.fromEntries(verdictNames.map((name) => [name, count(name)])) as Record<Verdict, number>;
}
