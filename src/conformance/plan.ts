import { VoicectlError } from '../kernel/errors.ts';
import { addCosts, type Cost, totalOf } from './cost.ts';
import { controlsOf, rulesOf, stepsForNamed, stepsToConfirm } from './needed.ts';
import { connectionSteps } from './steps/connection-steps.ts';
import { expiryShowSteps, expiryTokenSteps } from './steps/expiry-steps.ts';
import { type CheckLevel, levelFlags, type Step } from './steps/step.ts';
import { conversationStep, reuseSteps, silentSteps, streamSteps } from './steps/stream-steps.ts';
import { thoroughSteps } from './steps/thorough-steps.ts';
import {
  grantedSteps,
  lastGrantedSteps,
  plainPortStep,
  plainSteps,
  refusedSteps,
} from './steps/token-steps.ts';
import { exhaustSteps, windowSteps } from './steps/window-steps.ts';

export interface PlanOptions {
  levels: ReadonlySet<CheckLevel>;
  /** Only the steps for these rules; without rules, every step of the levels. */
  rules: readonly string[];
  /** Only these steps, of any level, in place of those of rules. */
  steps?: readonly string[];
  /** Only one device is used, and none is exhausted. */
  isAlone: boolean;
  wrongKey: boolean;
  /** Whether the token endpoint is used over TLS: then its plain port is checked. */
  isSecure: boolean;
  /** Whether the service is on this machine: then the selected steps may be of any level. */
  isLoopback: boolean;
  waitMs: number;
}

/** The planned steps, in order, and their maximum cost. */
export interface Plan {
  steps: readonly Step[];
  cost: Cost;
  /** The maximum cost of controls and a second try of every fail, in addition to `cost`. */
  confirmCost: Cost;
  /** With a service that answers immediately, milliseconds. */
  durationMs: number;
}

/** Every step, in the order in which they are asked. */
export function allSteps({ waitMs }: Pick<PlanOptions, 'waitMs'>): readonly Step[] {
  return [
    ...grantedSteps,
    ...silentSteps(waitMs),
    conversationStep,
    ...refusedSteps,
    ...lastGrantedSteps,
    ...plainSteps,
    plainPortStep,
    ...streamSteps,
    ...reuseSteps,
    ...thoroughSteps,
    ...expiryTokenSteps,
    ...exhaustSteps,
    ...connectionSteps,
    ...windowSteps,
    ...expiryShowSteps,
  ];
}

/** Plans a run. Pure: nothing is sent. */
export function planRun(options: PlanOptions): Plan {
  const all = allSteps(options);
  const selected =
    options.steps ?? (options.rules.length === 0 ? undefined : options.rules.flatMap(stepsForNamed));
  const wanted = selected ?? all.map(({ id }) => id);
  // Selected steps are asked at any level.
  const levels: ReadonlySet<CheckLevel> =
    selected === undefined ? options.levels : new Set(['base', 'standard', 'exhaust', 'thorough']);
  const steps = withUsed(all, wanted).filter((step) => levels.has(step.level) && isPossible(step, options));
  const cost = addCosts(steps.map((step) => step.cost));
  const confirmed = options.steps === undefined ? steps.flatMap(({ id }) => rulesOf(id)) : [];
  const rules = options.rules.length > 0 ? options.rules : confirmed;
  const more = [...planControls(options.rules, steps, options), ...planSecondTry(rules, options)];
  return {
    steps,
    cost,
    confirmCost: addCosts(more.map((step) => step.cost)),
    durationMs: estimateMs(steps),
  };
}

/** What the levels do that need their own flag beyond this machine. */
const flagged = {
  exhaust: 'reaches the rate limit',
  thorough: 'sends what a firewall may treat as an attack',
} as const;

/** Throws `usage` if a selection by name, such as `--rule R30`, needs a flag that was not given. */
export function requireFlags(selected: string, { steps }: Plan, { levels, isLoopback }: PlanOptions): void {
  if (isLoopback) return;
  for (const { level } of steps)
    if ((level === 'exhaust' || level === 'thorough') && !levels.has(level))
      throw new VoicectlError('usage', `${selected} ${flagged[level]}: add ${levelFlags[level]}`);
}

/** The steps that confirm the fails of these rules, and others that showed them, as far as this run may ask them. */
export function planSecondTry(
  rules: readonly string[],
  options: PlanOptions,
  others: readonly string[] = [],
): readonly Step[] {
  return repeatable([...rules.flatMap(stepsToConfirm), ...others], options);
}

/**
 * The steps without which these rules may stay open, unless they are `planned`, and all steps that they use: a token
 * that was granted at the start may have expired.
 */
export function planControls(
  rules: readonly string[],
  planned: readonly Step[],
  options: PlanOptions,
): readonly Step[] {
  const ids = planned.map(({ id }) => id);
  // If no rules are selected, the levels say what is asked.
  if (options.rules.length === 0) return [];
  return repeatable(
    rules.flatMap(controlsOf).filter((id) => !ids.includes(id)),
    options,
  );
}

function repeatable(wanted: readonly string[], options: PlanOptions): readonly Step[] {
  return withUsed(allSteps(options), wanted).filter(
    (step) => step.sendsWrongKey !== true && isPossible(step, options),
  );
}

/** With all steps that they use, in the order of `all`. */
function withUsed(all: readonly Step[], wanted: readonly string[]): Step[] {
  const byId = new Map(all.map((step) => [step.id, step]));
  const found = new Set<string>();
  const add = (id: string) => {
    const step = byId.get(id);
    if (step === undefined || found.has(id)) return;
    found.add(id);
    for (const used of step.uses ?? []) add(used);
    if (step.after !== undefined) add(step.after.step);
  };
  for (const id of wanted) add(id);
  return all.filter(({ id }) => found.has(id));
}

function isPossible(
  { id, device, sendsWrongKey }: Step,
  { isAlone, wrongKey, isSecure }: PlanOptions,
): boolean {
  if (isAlone && (device === 'second' || device === 'exhausted')) return false;
  if (id === plainPortStep.id && !isSecure) return false;
  return wrongKey || sendsWrongKey !== true;
}

const perSecond = 2;

/** Requests one after the other, and each after the wait of its step. */
function estimateMs(steps: readonly Step[]): number {
  const begins = new Map<string, number>();
  let now = 0;
  let last = 0;
  for (const { id, cost, after, takesMs = 0, background } of steps) {
    const due = after === undefined ? 0 : (begins.get(after.step) ?? 0) + after.ms;
    const start = due > now ? due : now;
    begins.set(id, start);
    const own = Math.max((totalOf(cost) / perSecond) * 1000, background ? 0 : takesMs);
    if (due <= now || after === undefined) now = start + own;
    last = Math.max(last, start + Math.max(own, takesMs));
  }
  return Math.max(now, last);
}
