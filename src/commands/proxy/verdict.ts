import { exitCodes } from '../../kernel/errors.ts';
import type { JudgementCounts } from '../../proxy/judge.ts';

/** The exit code of `--fail-on`. */
export function proxyVerdict(
  { violations, remarks }: JudgementCounts,
  failOn: 'violation' | 'remark' | undefined,
): number {
  const found = failOn === 'remark' ? violations + remarks : violations;
  return failOn !== undefined && found > 0 ? exitCodes['expectation-failed'] : 0;
}
