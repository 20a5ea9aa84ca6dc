import type { VoicectlError } from '../../kernel/errors.ts';
import { type Cost, noCost } from '../cost.ts';
import { createExchangeRun, type ExchangeRunOptions } from '../exchange-run.ts';
import { planRun } from '../plan.ts';
import { trouble } from '../stop.ts';
import type { RunConclusion } from '../verdicts.ts';
import { inferDialect, type Lesson } from './infer.ts';
import { confirmedAt, createView, type LearnView, presentedAt } from './view.ts';

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
  const { spent, stopped = whyNothing(createView(seen)) } = run;
  return { ...inferDialect(seen, scope.waitMs), spent, stopped };
}

/** Why a service whose answers were all seen has no dialect: it does not do what a dialect is about. */
function whyNothing({ grants, streams }: LearnView): VoicectlError | undefined {
  const hint = '`voicectl check` shows what it does instead.';
  if (grants.length === 0)
    return trouble('protocol-violation', 'No answer from the service contains a usable token', hint);
  const presented = streams.filter((stream) => presentedAt(stream) !== undefined);
  return presented.length > 0 && presented.every((stream) => confirmedAt(stream) === undefined)
    ? trouble('protocol-violation', 'The service confirmed no stream', hint)
    : undefined;
}
