import type { PlanOptions } from '../../conformance/plan.ts';
import type { Level } from '../../conformance/steps/step.ts';
import type { ConformanceContext } from './context.ts';

/** What the flags ask to be asked; `rules` narrows it to what these need. */
export function scopeOf({ settings }: ConformanceContext, rules: readonly string[] = []): PlanOptions {
  const levels: Level[] = ['base'];
  if (settings.level === 'standard') levels.push('standard');
  if (settings.exhaust) levels.push('exhaust');
  if (settings.thorough) levels.push('thorough');
  return {
    levels: new Set(levels),
    rules,
    isAlone: settings.oneDevice === true,
    wrongKey: settings.wrongKey !== false,
    isSecure: !settings.local && new URL(settings.baseUrl).protocol === 'https:',
    waitMs: settings.wait,
  };
}
