import { type Clock, waitUntil } from '../kernel/clock.ts';
import { addCosts, type Cost, noCost, totalOf } from './cost.ts';

/** Why a planned step is skipped. */
export class NotAsked extends Error {}

/** Counts requests, and keeps them within the plan. */
export interface Budget {
  readonly spent: Cost;
  /** Counts one request or connection; throws `NotAsked` if that exceeds the plan. */
  spend(kind: keyof Cost): void;
  /** Takes back a request that turned out not to concern the service. */
  giveBack(kind: keyof Cost): void;
  fits(cost: Cost): boolean;
}

export interface BudgetOptions {
  maxRequests?: number | undefined;
  onSpent?: ((spent: Cost) => void) | undefined;
}

export function createBudget(
  planned: Cost,
  { maxRequests = Number.POSITIVE_INFINITY, onSpent = () => {} }: BudgetOptions,
): Budget {
  let spent = noCost;
  const fits = (cost: Cost) => {
    const sum = addCosts([spent, cost]);
    const isPlanned = (Object.keys(sum) as (keyof Cost)[]).every((kind) => sum[kind] <= planned[kind]);
    return isPlanned && totalOf(sum) <= maxRequests;
  };
  return {
    get spent() {
      return spent;
    },
    fits,
    giveBack(kind) {
      spent = { ...spent, [kind]: spent[kind] - 1 };
      onSpent(spent);
    },
    spend(kind) {
      const one = { ...noCost, [kind]: 1 };
      if (!fits(one)) throw new NotAsked('the request budget is used up');
      spent = addCosts([spent, one]);
      onSpent(spent);
    },
  };
}

/** Lets requests pass one after the other, at a steady rate. */
export interface RequestPace {
  /** Resolves when the next request may be sent; `factor` times as fast as usual. */
  turn(factor: number, signal: AbortSignal): Promise<void>;
}

const usualPerSecond = 2;

export function createPace(clock: Clock, perSecond = usualPerSecond): RequestPace {
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    async turn(factor, signal) {
      const at = Math.max(clock.now(), nextAt);
      nextAt = at + 1000 / (perSecond * factor);
      if (at > clock.now()) await waitUntil(clock, at, signal);
    },
  };
}
