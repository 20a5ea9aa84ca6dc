import type { Finding, Rule, Seen } from '../rules/rule.ts';
import { stepsFor } from './needed.ts';
import type { Plan } from './plan.ts';
import type { Step } from './steps/step.ts';

export interface EarlyVerdictOptions {
  rules: readonly Rule[];
  plan: Plan;
  tell: (rule: Rule, finding: Finding, seen: readonly Seen[]) => void;
}

/**
 * Judges each rule as soon as all its planned steps have been held, for those who watch a run. Such a verdict may
 * still change: a fail is confirmed later. Takes a step that is over, and a look at the exchanges so far.
 */
export function createEarlyVerdicts({ rules, plan, tell }: EarlyVerdictOptions) {
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
      if (finding !== undefined) tell(rule, finding, seen);
    }
  };
}
