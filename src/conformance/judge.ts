import { type Finding, type Rule, type Seen, skipped, unknown } from '../rules/rule.ts';
import type { AttemptResult } from './exchange-run.ts';
import { stepsFor } from './needed.ts';
import type { Plan } from './plan.ts';
import { type CheckLevel, isOfStep, levelFlags, type Step, withoutTry } from './steps/step.ts';
import { plainPortStep } from './steps/token-steps.ts';

/** A rule and its verdict, with the exchanges that show it. */
export interface Judged {
  rule: Rule;
  finding: Finding;
  evidence: readonly Seen[];
  /** Why it is known to fail, if the user said so. */
  expected?: string | undefined;
}

/** The steps of the first try, and all possible steps. */
interface AskedSteps {
  plan: Plan;
  /** Every step that there is. */
  all: readonly Step[];
  levels: ReadonlySet<CheckLevel>;
  isStopped: boolean;
}

/** The verdict of the first try on a rule. */
export function judgeFirst(
  rule: Rule,
  first: AttemptResult,
  { plan, all, levels, isStopped }: AskedSteps,
): Finding {
  const finding = rule.judge(first.seen);
  if (finding !== undefined) return finding;
  const steps = stepsFor(rule.id);
  const asked = plan.steps.filter(({ id }) => steps.includes(id));
  const reason = asked.map(({ id }) => first.leftOut.get(id)).find((one) => one !== undefined);
  const missing = steps.find((id) => !asked.some((step) => step.id === id) && id !== plainPortStep.id);
  if (missing !== undefined) {
    const step = all.find(({ id }) => id === missing);
    return skipped(levelText(step, levels), []);
  }
  if (reason !== undefined) return skipped(`not asked: ${reason}`, []);
  const isCutShort = isStopped && asked.some((step) => !first.seen.some(({ id }) => isOfStep(id, step)));
  return isCutShort ? skipped('not asked: the run was stopped', []) : unknown('no answer shows this', []);
}

function levelText(step: Step | undefined, levels: ReadonlySet<CheckLevel>): string {
  if (step === undefined || step.level === 'base' || levels.has(step.level))
    return 'not possible with these options';
  return `not asked at this level: ${levelFlags[step.level]}`;
}

/** What the two tries showed. */
export interface TwoTries {
  first: readonly Seen[];
  again: AttemptResult | undefined;
  /** Why the second try had no devices that nobody else uses; undefined if it had some. */
  notFresh: string | undefined;
}

/** A failure counts if it was seen twice, independently, in one try or in two. Any other finding stays, except a suspicion. */
export function judgeTwice(rule: Rule, first: Finding, { first: seen, again, notFresh }: TwoTries): Finding {
  const second = again === undefined ? undefined : rule.judge(again.seen);
  if (first.suspicion !== undefined) {
    if (notFresh !== undefined) return { ...first, message: `${first.message} (${notFresh})` };
    return settleSuspicion(first, first.suspicion, second);
  }
  if (first.verdict !== 'fail' || first.isProof === true) return first;
  const evidence = [...first.evidence, ...(second?.evidence ?? [])];
  if (second?.verdict === 'fail') return { ...second, message: first.message, evidence };
  // It sees more.
  if (second?.verdict === 'warn') return { ...second, evidence };
  if (failsEachTime(rule, first, seen)) return first;
  const message = `seen once and not confirmed: ${first.message}`;
  if (second?.verdict !== 'pass' && second?.verdict !== 'observed')
    return { verdict: 'unknown', message, evidence };
  // What was found in other exchanges says nothing about those that failed.
  if (!isRepeated(first, again)) return { verdict: 'unknown', message, evidence: first.evidence };
  return {
    verdict: 'warn',
    message: `failed once (${first.message}); a second try: ${second.message}`,
    evidence,
  };
}

/** The second try used a device that nobody else uses: it shows the same, or that somebody else was using the first. */
function settleSuspicion(first: Finding, suspicion: string, second: Finding | undefined): Finding {
  const evidence = [...first.evidence, ...(second?.evidence ?? [])];
  if (second?.suspicion !== undefined) return { verdict: 'fail', message: suspicion, evidence };
  return second?.verdict === 'pass' ? { ...second, evidence } : first;
}

/** Whether an exchange that failed was asked again. */
function isRepeated({ evidence, about = evidence }: Finding, again: AttemptResult | undefined): boolean {
  return about.some((id) => again?.seen.some((one) => withoutTry(one.id) === withoutTry(id)));
}

/** Whether several independent exchanges each show it on their own. */
function failsEachTime(rule: Rule, first: Finding, seen: readonly Seen[]): boolean {
  const alone = first.evidence.filter((id) => {
    const one = seen.find((other) => other.id === id);
    return one !== undefined && rule.judge([one])?.verdict === 'fail';
  });
  return alone.length > 1;
}
