import { serviceRules } from '../rules/catalogue.ts';
import type { Finding, Rule, Seen, Verdict } from '../rules/rule.ts';
import { grantsSeen } from '../rules/token-seen.ts';
import type { Cost } from './cost.ts';
import {
  type AttemptResult,
  createExchangeRun,
  type ExchangeRun,
  type ExchangeRunOptions,
} from './exchange-run.ts';
import { type Judged, judgeFirst, judgeTwice } from './judge.ts';
import { isCounting, otherDeviceStep, stepsFor } from './needed.ts';
import { allSteps, type Plan, type PlanOptions, planControls, planRun, planSecondTry } from './plan.ts';
import { isOfStep, type Step } from './steps/step.ts';
import { countVerdicts, exitCodeOf, type RunConclusion } from './verdicts.ts';

export interface CheckOptions extends Omit<ExchangeRunOptions, 'plan' | 'onHeld'> {
  /** Rules that are known to fail, with the reason. */
  expected?: ReadonlyMap<string, string>;
  /** Whether `warn` and `unknown` count as failures. */
  strict?: boolean;
  /** Called with each rule as soon as there is a verdict, and once more when it is final. */
  onJudged?: (judged: Judged, isFinal: boolean) => void;
}

export interface CheckResult extends RunConclusion {
  rules: readonly Judged[];
  verdicts: Record<Verdict, number>;
  spent: Cost;
}

/** Runs the planned exchanges, judges them by every rule, and repeats what failed. After an abort, the result is what was found so far. */
export async function checkService(options: CheckOptions): Promise<CheckResult> {
  const { scope, clock, expected = new Map(), onJudged } = options;
  const startedAt = clock.now();
  const plan = planRun(scope);
  const rules = rulesIn(scope);
  const judge = (rule: Rule, finding: Finding, seen: readonly Seen[]): Judged => {
    const evidence = seen.filter(({ id }) => finding.evidence.includes(id));
    return { rule, finding, evidence, expected: expected.get(rule.id) };
  };
  const onHeld =
    onJudged &&
    judgeEarly(rules, plan, (...found: Parameters<typeof judge>) => onJudged(judge(...found), false));
  const run = createExchangeRun({ ...options, plan, onHeld });
  const { first, found } = await tryFirst(run, rules, plan, scope);
  const again = await tryAgain();
  const seen = [...first.seen, ...(again?.seen ?? [])];
  const judged = found.map(({ rule, finding }) =>
    judge(rule, judgeTwice(rule, finding, { first: first.seen, again, notFresh: whyNotFresh() }), seen),
  );
  for (const one of judged) onJudged?.(one, true);
  const { stopped, spent } = run;
  return {
    rules: judged,
    verdicts: countVerdicts(judged),
    spent,
    stopped,
    exitCode: exitCodeOf(judged, stopped, options.strict === true),
    elapsedMs: clock.now() - startedAt,
  };

  async function tryAgain(): Promise<AttemptResult | undefined> {
    const mayBeFresh = whyNotFresh() === undefined;
    const open = found.filter(
      ({ finding: { verdict, isProof, suspicion } }) =>
        (verdict === 'fail' && isProof !== true) || (suspicion !== undefined && mayBeFresh),
    );
    if (open.length === 0 || run.stopped !== undefined) return undefined;
    const ids = open.map(({ rule }) => rule.id);
    // The exchanges that failed may be those of another rule.
    const failed = open.flatMap(({ finding: { evidence, about = evidence } }) => about);
    const steps = plan.steps.filter((step) => failed.some((id) => isOfStep(id, step))).map(({ id }) => id);
    const fresh = ids.some((id) => isCounting(id)) && mayBeFresh;
    return run.hold(planSecondTry(ids, scope, steps), { fresh });
  }

  /** Why a second try has no devices that nobody else uses; undefined if it has some. */
  function whyNotFresh(): string | undefined {
    if (scope.isAlone) return 'only another device can tell, and --one-device allows none';
    if (run.stopped !== undefined) return 'the run was stopped before another device was used';
    return knowsOthers(first.seen) ? undefined : 'only another device can tell, and none was granted a token';
  }
}

/** Holds the planned exchanges, and the controls of selected rules that are still open. */
async function tryFirst(
  run: ExchangeRun,
  rules: readonly Rule[],
  plan: Plan,
  scope: PlanOptions,
): Promise<{ first: AttemptResult; found: readonly { rule: Rule; finding: Finding }[] }> {
  const all = allSteps(scope);
  const judgeAll = (held: AttemptResult) => {
    const asked = { plan, all, levels: scope.levels, isStopped: run.stopped !== undefined };
    return rules.map((rule) => ({ rule, finding: judgeFirst(rule, held, asked) }));
  };
  const first = await run.hold(plan.steps);
  const found = judgeAll(first);
  const open = found.filter(({ finding }) => finding.verdict === 'unknown').map(({ rule }) => rule.id);
  const controls = planControls(open, plan.steps, scope);
  if (controls.length === 0 || run.stopped !== undefined) return { first, found };
  const { seen } = await run.hold(controls, { isMore: true });
  if (run.stopped !== undefined) return { first, found };
  const whole = { seen, leftOut: first.leftOut };
  return { first: whole, found: judgeAll(whole) };
}

/**
 * Judges each rule as soon as all its planned steps have been held, for those who watch a run. Such a verdict may
 * still change: a fail is confirmed later. The result takes a step that is over, and a look at the exchanges so far.
 */
function judgeEarly(
  rules: readonly Rule[],
  plan: Plan,
  report: (rule: Rule, finding: Finding, seen: readonly Seen[]) => void,
) {
  const planned = new Set(plan.steps.map(({ id }) => id));
  const waiting = new Map(
    rules.map((rule) => [rule, new Set(stepsFor(rule.id).filter((id) => planned.has(id)))]),
  );
  return ({ id }: Step, look: () => readonly Seen[]): void => {
    const ready = [...waiting].filter(([, steps]) => steps.delete(id) && steps.size === 0);
    if (ready.length === 0) return;
    const seen = look();
    for (const [rule] of ready) {
      waiting.delete(rule);
      const finding = rule.judge(seen);
      if (finding !== undefined) report(rule, finding, seen);
    }
  };
}

/** The rules that are judged, in their order. */
export function rulesIn({ rules }: Pick<PlanOptions, 'rules'>): readonly Rule[] {
  return serviceRules.filter(({ id }) => rules.length === 0 || rules.includes(id));
}

/** Whether the service accepts made-up devices. */
function knowsOthers(seen: readonly Seen[]): boolean {
  return grantsSeen(seen).some(({ id }) => id === otherDeviceStep);
}
