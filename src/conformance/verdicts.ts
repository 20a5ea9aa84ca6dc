import { exitCodes, type VoicectlError } from '../kernel/errors.ts';
import type { Finding, Verdict } from '../rules/rule.ts';

/** The verdicts, in the order in which they are counted. */
export const verdictNames: readonly Verdict[] = ['pass', 'fail', 'warn', 'observed', 'unknown', 'skipped'];

export function countVerdicts(judged: readonly { finding: Finding }[]): Record<Verdict, number> {
  const count = (name: Verdict) => judged.filter(({ finding }) => finding.verdict === name).length;
  return Object.fromEntries(verdictNames.map((name) => [name, count(name)])) as Record<Verdict, number>;
}

const failing: readonly Verdict[] = ['fail'];
const failingStrictly: readonly Verdict[] = ['fail', 'warn', 'unknown'];

/** Of a run: of what stopped it, or of a rule that failed and was not `expected` to. `strict`: `warn` and `unknown` fail. */
export function exitCodeOf(
  judged: readonly { finding: Finding; expected?: string | undefined }[],
  stopped: VoicectlError | undefined,
  strict: boolean,
): number {
  if (stopped !== undefined) return stopped.exitCode;
  const bad = strict ? failingStrictly : failing;
  const isBad = judged.some(
    ({ finding, expected }) => bad.includes(finding.verdict) && expected === undefined,
  );
  return isBad ? exitCodes['expectation-failed'] : 0;
}
