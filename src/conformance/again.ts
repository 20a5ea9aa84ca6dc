import { VoicectlError } from '../kernel/errors.ts';
import { didYouMean } from '../protocol/suggestion.ts';
import { serviceRules } from '../rules/catalogue.ts';
import type { Rule, Seen } from '../rules/rule.ts';
import type { CheckOptions } from './check.ts';
import { type Cost, totalOf } from './cost.ts';
import { createExchangeRun, type ExchangeRunOptions } from './exchange-run.ts';
import { type Judged, judgeFirst } from './judge.ts';
import { stepsToConfirm } from './needed.ts';
import { allSteps, type PlanOptions, planRun, requireFlags } from './plan.ts';
import { isOfStep, type Step, withoutTry } from './steps/step.ts';
import { plainPortStep } from './steps/token-steps.ts';
import { exitCodeOf, type RunConclusion } from './verdicts.ts';

/** What is repeated: an exchange, or the exchanges of a rule. */
export interface Again {
  /** As `check` prints it: `R17`, `E6`, `X-61`. */
  id: string;
  rule?: Rule;
  /** The steps that perform it, without the steps that they use. */
  steps: readonly string[];
}

/** An exchange that was repeated, and its step. */
export interface AskedAgain {
  seen: Seen;
  step: Pick<Step, 'id' | 'title'>;
}

export interface AgainResult extends RunConclusion {
  exchanges: readonly AskedAgain[];
  /** The verdict of this one try on the named rule. */
  judged: Judged | undefined;
  /** Why steps were not asked, by their id. */
  leftOut: ReadonlyMap<string, string>;
  spent: Cost;
  /** Why the named exchange or rule was not asked, if it was not. */
  notAsked: VoicectlError | undefined;
}

export type AgainOptions = Omit<ExchangeRunOptions, 'plan'> & Pick<CheckOptions, 'expected' | 'strict'>;

/** Every name that `--again` takes. */
export function againIds(): { id: string; title: string }[] {
  return [...serviceRules, ...allSteps({ waitMs: 0 })].map(({ id, title }) => ({ id, title }));
}

/**
 * Finds what a name in the output of `check` stands for: a rule, or an exchange, also one of a second try (`E6/2`). Throws `usage`
 * for a name that is neither, and for exchanges that these options do not allow.
 */
export function findAgain(written: string, scope: PlanOptions): Again {
  const name = written.toLowerCase();
  const rule = serviceRules.find(({ id }) => id.toLowerCase() === name);
  if (rule !== undefined) return allowed({ id: rule.id, rule, steps: stepsToConfirm(rule.id) }, scope);
  const steps = allSteps(scope);
  const exchange = withoutTry(name);
  for (const { id, exchanges = [id] } of steps) {
    const found = [id, ...exchanges].find((one) => one.toLowerCase() === exchange);
    if (found === undefined) continue;
    // A stream that is silent, or stays open, is complete when its last step has ended it.
    const last = steps.filter((step) => step.id === `${id}-end`).map((step) => step.id);
    return allowed({ id: found, steps: [id, ...last] }, scope);
  }
  const known = [...againIds().map(({ id }) => id), ...steps.flatMap(({ exchanges = [] }) => exchanges)];
  const word = written.toUpperCase();
  // The letter says what kind of exchange is meant.
  const alike = known.filter((id) => id[0] === word[0]);
  const meant = didYouMean(word, alike) || didYouMean(word, known);
  throw new VoicectlError('usage', `--again: there is no rule or exchange ${written}${meant}`);
}

function allowed(again: Again, scope: PlanOptions): Again {
  const plan = planAgain(again, scope);
  requireFlags(`--again: ${again.id}`, plan, scope);
  if (plan.steps.some(({ id }) => again.steps.includes(id))) return again;
  const step = allSteps(scope).find(({ id }) => again.steps.includes(id));
  const why =
    step?.sendsWrongKey === true && !scope.wrongKey
      ? 'with --no-wrong-key'
      : step?.id === plainPortStep.id
        ? 'without TLS'
        : 'with --one-device';
  throw new VoicectlError('usage', `--again: ${again.id} cannot be repeated ${why}`);
}

/** The steps of what is repeated, and the steps that they use. */
export function planAgain({ steps }: Again, scope: PlanOptions) {
  return planRun({ ...scope, steps });
}

/** Repeats it once, and judges the rule if one was named. After an abort, the result is what was found so far. */
export async function askAgain(
  again: Again,
  { expected, strict = false, ...options }: AgainOptions,
): Promise<AgainResult> {
  const { clock, scope } = options;
  const startedAt = clock.now();
  const plan = planAgain(again, scope);
  const run = createExchangeRun({ ...options, plan });
  const held = await run.hold(plan.steps);
  const { stopped, spent } = run;
  const { rule } = again;
  const asked = { plan, all: allSteps(scope), levels: scope.levels, isStopped: stopped !== undefined };
  const finding = rule && judgeFirst(rule, held, asked);
  const judged = rule &&
    finding && {
      ...{ rule, finding, expected: expected?.get(rule.id) },
      evidence: held.seen.filter(({ id }) => finding.evidence.includes(id)),
    };
  const needed = totalOf(plan.cost);
  const isShort = needed > (options.maxRequests ?? Number.POSITIVE_INFINITY);
  const [why] = again.steps.flatMap((id) => held.leftOut.get(id) ?? []);
  const notAsked =
    why === undefined
      ? undefined
      : new VoicectlError(isShort ? 'usage' : 'expectation-failed', `${again.id} was not repeated: ${why}`, {
          ...(isShort ? { hint: `It needs --max-requests ${needed}.` } : { details: { kind: 'not-asked' } }),
        });
  return {
    exchanges: held.seen.map((seen) => ({ seen, step: stepOf(seen, plan.steps) })),
    judged,
    ...{ leftOut: held.leftOut, spent, stopped, notAsked },
    exitCode: exitCodeOf(judged === undefined ? [] : [judged], stopped, strict) || (notAsked?.exitCode ?? 0),
    elapsedMs: clock.now() - startedAt,
  };
}

function stepOf({ id }: Seen, steps: readonly Step[]): Pick<Step, 'id' | 'title'> {
  const of = steps.find((step) => step.id === id) ?? steps.find((step) => isOfStep(id, step));
  return of ?? { id, title: '' };
}
