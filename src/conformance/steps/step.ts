import type { Asker } from '../asker.ts';
import type { Cost } from '../cost.ts';
import type { DeviceRole } from '../devices.ts';

/** How far a run goes. Each level holds those before it. */
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
  /** The device that it is asked for, where another than the user's own is needed. */
  device?: DeviceRole;
  /** The names of its exchanges, if they are not its own. */
  exchanges?: readonly string[];
  /** Steps whose tokens or streams it uses. */
  uses?: readonly string[];
  /** Not sooner than this after the step began. */
  after?: { step: string; ms: number };
  /** How long it takes, besides its requests, with a service that answers immediately. */
  takesMs?: number;
  /** Set where it goes on while later steps are asked. */
  background?: true;
  /** It sends a key that is wrong: it is never asked a second time, and not where no wrong key may be sent. */
  sendsWrongKey?: true;
  run(ask: Asker): Promise<void>;
}

/** Whether an exchange is of a step: of its own name or of one of its names, also with an ending (`E1-retry`). */
export function isOfStep(exchange: string, { id, exchanges = [] }: Pick<Step, 'id' | 'exchanges'>): boolean {
  return [id, ...exchanges].some((name) => exchange === name || exchange.startsWith(`${name}-`));
}
