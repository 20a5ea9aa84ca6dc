import type { CheckOptions, CheckResult } from '../../conformance/check.ts';
import type { Plan, PlanOptions } from '../../conformance/plan.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { checkSummaryObject, ruleObject } from '../../report/check-json.ts';
import { checkSummaryLines, ruleLines } from '../../report/check-lines.ts';
import { createProgress } from '../conformance/progress.ts';
import type { CheckContext } from './context.ts';

/** What a view needs to know about a run before it starts. */
export interface CheckFacts {
  /** The service, for people. */
  name: string;
  plan: Plan;
  scope: PlanOptions;
}

/** Shows a check to the user: on a screen, as lines, or as JSON. */
export interface CheckView {
  /** What the run tells, and the signal that ends it. */
  readonly follow: Pick<CheckOptions, 'signal' | 'onStep' | 'onWait' | 'onSpent' | 'onJudged'>;
  /** Shows the result. Resolves when the user has seen it. */
  finish(result: CheckResult): Promise<void>;
  /** Called in any case, also where there is no result. */
  close(): Promise<void>;
}

/** The verdicts as lines, when all are there; with `--json` as objects. */
export function createCheckLines(context: CheckContext, { plan }: CheckFacts): CheckView {
  const progress = createProgress(context, plan.steps.length);
  return {
    follow: { signal: context.signal, onStep: progress.step, onWait: progress.wait },
    async finish(result) {
      progress.end();
      await printResult(context, result);
    },
    async close() {
      progress.end();
    },
  };
}

/** Writes a result to standard output, and what ended the run early to standard error. */
export async function printResult(
  { io, json, style, note }: CheckContext,
  result: CheckResult,
): Promise<void> {
  const text = json
    ? [...result.rules.map(ruleObject), checkSummaryObject(result)].map(jsonLine).join('')
    : [...result.rules.flatMap((judged) => ruleLines(judged, style)), ...checkSummaryLines(result, style)]
        .map((line) => `${line}\n`)
        .join('');
  await io.stdout.write(text);
  const { stopped } = result;
  if (stopped === undefined) return;
  if (json) await note(stopped.message);
  if (stopped.hint !== undefined) await note(stopped.hint);
}
