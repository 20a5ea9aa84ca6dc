import { countText } from '../../protocol/count-text.ts';
import { limitsOf } from '../../rules/rate-window.ts';
import type { Seen } from '../../rules/rule.ts';
import { addCosts, type Cost } from '../cost.ts';
import { allSteps } from '../plan.ts';
import { isOfStep, levelFlags, type Step } from '../steps/step.ts';
import { answerRemarks } from './answer-remarks.ts';
import { closeSettings } from './close-settings.ts';
import { errorRemarks, errorSettings } from './error-settings.ts';
import { messageRemarks, messageSettings } from './message-settings.ts';
import { outcomeRemarks, outcomesOf } from './outcomes.ts';
import { rateLimitSettings } from './rate-limit-settings.ts';
import { refusalRemarks, refusalSettings } from './refusal-settings.ts';
import type { Learned, Setting } from './setting.ts';
import { statusRemarks, statusSettings } from './status-settings.ts';
import { learnedStreamSettings } from './stream-settings.ts';
import { learnedTokenSettings, lifetimeOf, tokenRemarks } from './token-settings.ts';
import { createView, type LearnView } from './view.ts';

/** For each setting of the dialect: the exchanges that decide it, and how. */
export const settings: readonly Setting[] = [
  ...learnedTokenSettings,
  ...refusalSettings,
  ...rateLimitSettings,
  ...messageSettings,
  ...statusSettings,
  ...errorSettings,
  ...learnedStreamSettings,
  ...closeSettings,
];

const remarks = [
  ...tokenRemarks,
  ...refusalRemarks,
  ...answerRemarks,
  ...messageRemarks,
  ...statusRemarks,
  ...errorRemarks,
  ...outcomeRemarks,
];

/** What a run shows about a service if the specification is silent. */
export interface Lesson {
  /** A result for every setting, in the order of the dialect. */
  settings: readonly { setting: Setting; learned: Learned }[];
  /** What the dialect cannot express. */
  remarks: readonly string[];
  /** What became of streams, by what was done on them, for comparison. */
  outcomes: ReadonlyMap<string, string>;
  /** The allowance that the service names, which is a flag of `serve`, not a setting. */
  rateLimit: number | undefined;
  /** The lifetime of tokens by their claims, if it is the same for all; a dialect cannot express it. */
  lifetimeSeconds: number | undefined;
}

/** Draws the conclusions. Pure. */
export function inferDialect(seen: readonly Seen[], waitMs: number): Lesson {
  const view = createView(seen);
  const steps = allSteps({ waitMs });
  return {
    settings: settings.map((setting) => ({ setting, learned: learn(setting, view, seen, steps) })),
    remarks: remarks.map((remark) => remark.find(view)).filter((text) => text !== undefined),
    outcomes: outcomesOf(view),
    rateLimit: view.grants[0] && limitsOf(view.grants[0]).limit,
    lifetimeSeconds: lifetimeOf(view),
  };
}

function learn(setting: Setting, view: LearnView, seen: readonly Seen[], steps: readonly Step[]): Learned {
  const learned = setting.infer?.(view);
  if (learned !== undefined) return learned;
  if (setting.steps.length === 0) return { unknown: `not probed: ${setting.how}` };
  const missing = steps.filter(
    (step) => setting.steps.includes(step.id) && !seen.some(({ id }) => isOfStep(id, step)),
  );
  const [first] = missing;
  if (first === undefined) return { unknown: `not determined: ${setting.how}` };
  const cost = addCosts(missing.map((step) => step.cost));
  return {
    unknown: `not probed: costs ${costText(cost)}${first.level === 'base' ? '' : ` (${levelFlags[first.level]})`}`,
  };
}

function costText({ tokens, plain, connections }: Cost): string {
  const parts = [
    [tokens, 'token request'],
    [plain, 'request'],
    [connections, 'connection'],
  ] as const;
  const texts = parts.flatMap(([count, what]) => (count === 0 ? [] : [countText(count, what)]));
  return texts.join(', ') || 'time';
}
