import { type Cost, noCost } from '../cost.ts';
import { createExchangeRun, type ExchangeRunOptions } from '../exchange-run.ts';
import { planRun } from '../plan.ts';
import type { RunConclusion } from '../verdicts.ts';
import { inferDialect, type Lesson } from './infer.ts';

export type LearnOptions = Omit<ExchangeRunOptions, 'plan'>;

export interface LearnResult extends Lesson, Pick<RunConclusion, 'stopped'> {
  spent: Cost;
}

/** Precision of the time of a close if time is moved. */
const grainMs = 250;

/** Runs the exchanges of `check` once and draws the conclusions. After an abort, the result is what was found so far. */
export async function learnDialect(options: LearnOptions): Promise<LearnResult> {
  const { scope } = options;
  const plan = planRun(scope);
  // No second try: a dialect describes what was seen.
  const once = { ...plan, confirmCost: noCost };
  const run = createExchangeRun({ ...options, grainMs, plan: once });
  const { seen } = await run.hold(plan.steps);
  const { spent, stopped } = run;
  return { ...inferDialect(seen, scope.waitMs), spent, stopped };
}
