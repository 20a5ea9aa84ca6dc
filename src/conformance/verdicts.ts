import { exitCodes, type VoicectlError } from '../kernel/errors.ts';
import { type Finding, type Verdict, verdictNames } from '../rules/rule.ts';

/** How a run of judged exchanges ended. */
export interface RunConclusion {
  /** Why it ended before its plan did. */
  stopped: VoicectlError | undefined;
  exitCode: number;
  elapsedMs: number;
}

export function countVerdicts(judged: readonly { finding: Finding }[]): Record<Verdict, number> {
  const count = (name: Verdict) => judged.filter(({ finding }) => finding.verdict === name).length;
  return Object.fromEntries(verdictNames.map((name) => [name, count(name)])) as Record<Verdict, number>;
}

const failing: readonly Verdict[] = ['fail'];
const failingStrictly: readonly Verdict[] = ['fail', 'warn', 'unknown'];

/** Whether a verdict fails a run: it is bad, and was not `expected` to be. `strict`: `warn` and `unknown` fail too. */
export function isFailed(
  { finding, expected }: { finding: Finding; expected?: string | undefined },
  strict: boolean,
): boolean {
  return (strict ? failingStrictly : failing).includes(finding.verdict) && expected === undefined;
}

/** The exit code of a run: of what stopped it, or of a rule that failed without being `expected` to. `strict`: `warn` and `unknown` fail too. */
export function exitCodeOf(
  judged: readonly { finding: Finding; expected?: string | undefined }[],
  stopped: VoicectlError | undefined,
  strict: boolean,
): number {
  if (stopped !== undefined) return stopped.exitCode;
  return judged.some((one) => isFailed(one, strict)) ? exitCodes['expectation-failed'] : 0;
}
