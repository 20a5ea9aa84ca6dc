import type { VoicectlError } from '../../kernel/errors.ts';
import type { Cost } from '../cost.ts';
import { createExchangeRun, type ExchangeRunOptions } from '../exchange-run.ts';
import { type PlanOptions, planRun } from '../plan.ts';
import { inferDialect, type Lesson } from './infer.ts';

export interface LearnOptions extends Omit<ExchangeRunOptions, 'plan' | 'isAlone' | 'waitMs'> {
  scope: PlanOptions;
}

export interface LearnResult extends Lesson {
  spent: Cost;
  /** Why the run ended before its plan did. */
  stopped: VoicectlError | undefined;
}

/** Precision of the time of a close if time is moved. */
const grainMs = 250;

/** Runs the exchanges of `check` once and draws the conclusions. The signal stops it with what was found. */
export async function learnDialect(options: LearnOptions): Promise<LearnResult> {
  const { scope } = options;
  const plan = planRun(scope);
  // No second try: a dialect describes what was seen.
  const once = { ...plan, confirmCost: { tokens: 0, plain: 0, connections: 0 } };
  const run = createExchangeRun({
    ...options,
    grainMs,
    plan: once,
    isAlone: scope.isAlone,
    waitMs: scope.waitMs,
  });
  const { seen } = await run.hold(plan.steps);
  const { spent, stopped } = run;
  return { ...inferDialect(seen, scope.waitMs), spent, stopped };
}
