import type { Asker } from '../asker.ts';
import type { Cost } from '../cost.ts';
import type { DeviceRole } from '../devices.ts';

/** How far a run goes. Each level includes those before it. */
export type CheckLevel = 'base' | 'standard' | 'exhaust' | 'thorough';

/** What a user adds to the command for a level. */
export const levelFlags: Readonly<Record<Exclude<CheckLevel, 'base'>, string>> = {
  standard: '--level standard',
  exhaust: '--exhaust',
  thorough: '--thorough',
};

/** One exchange, or a few that belong together: what is asked, what it costs, and when. */
export interface Step {
  id: string;
  title: string;
  level: CheckLevel;
  cost: Cost;
  /** The device that it uses, if not the user's own. */
  device?: DeviceRole;
  /** The names of its exchanges, if they are not its own. */
  exchanges?: readonly string[];
  /** Steps whose tokens or streams it uses. */
  uses?: readonly string[];
  /** Not sooner than this after the step began. */
  after?: { step: string; ms: number };
  /** How long it takes, besides its requests, with a service that answers immediately. */
  takesMs?: number;
  /** Set if it continues while later steps are asked. */
  background?: true;
  /** It sends a wrong key: it is never repeated, and it is left out if no wrong key may be sent. */
  sendsWrongKey?: true;
  run(ask: Asker): Promise<void>;
}

/** `E6` for `E6`, `E6-retry`, `E6-again` and `E6/2`. */
export function withoutTry(exchange: string): string {
  return exchange.replace(/\/\d+$/, '').replace(/-(retry|again)$/, '');
}

/** Whether an exchange belongs to a step: it has its name or one of its names, possibly with an ending (`E1-retry`). */
export function isOfStep(exchange: string, { id, exchanges = [] }: Pick<Step, 'id' | 'exchanges'>): boolean {
  return [id, ...exchanges].some((name) => exchange === name || exchange.startsWith(`${name}-`));
}
