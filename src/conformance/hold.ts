import { abortable } from '../kernel/abortable.ts';
import type { Clock } from '../kernel/clock.ts';
import { toVoicectlError } from '../kernel/errors.ts';
import type { Redactor } from '../kernel/redact.ts';
import type { Seen } from '../rules/rule.ts';
import { type Asker, type Conduct, createAsker, type Subject } from './asker.ts';
import { createBudget } from './budget.ts';
import { type Clockwork, createRealClockwork } from './clockwork.ts';
import { addCosts, type Cost } from './cost.ts';
import { createDevices, createFreshDevices } from './devices.ts';
import { takeOverClock } from './emulator-clock.ts';
import { createPace } from './pace.ts';
import type { Plan } from './plan.ts';
import { type LeftOut, runSteps } from './run-steps.ts';
import type { Step } from './steps/step.ts';
import { createStopWatch, type Stop } from './stop.ts';

export interface HoldOptions {
  subject: Subject;
  /** The first is the user’s own; up to three more stand for the other roles. */
  devices: readonly [string, ...string[]];
  /** No other device than the first is used. */
  isAlone: boolean;
  plan: Plan;
  maxRequests?: number | undefined;
  /** PCM that is said. */
  speech: Buffer;
  waitMs: number;
  /** If time cannot be moved. Default 2. */
  requestsPerSecond?: number;
  clock: Clock;
  signal: AbortSignal;
  redactor: Redactor;
  /** Set if the service is known to be an emulator whose clock may be moved. */
  isEmulator?: boolean;
  /** Size of one move of an emulator's clock over short spans. */
  grainMs?: number | undefined;
  verify?: Conduct['verify'];
  /** Called before each step. */
  onStep?: (step: Step, tryNumber: 1 | 2) => void;
  onWait?: (ms: number) => void;
  /** Called after each step of the first try, with a look at the exchanges so far. */
  onHeld?: ((step: Step, seen: () => readonly Seen[]) => void) | undefined;
  /** Called when another request or connection was begun. */
  onSpent?: ((spent: Cost) => void) | undefined;
  onSeen?: (seen: Seen) => void;
}

/** The result of the exchanges of one try. */
export interface Try {
  /** If the signal stopped the run: of the steps that had ended. */
  seen: readonly Seen[];
  leftOut: LeftOut;
}

/** A run that holds planned exchanges, and may hold some of them a second time. */
export interface Holding {
  /**
   * The signal stops it with what was found until then. Each call is a try of its own, except with `isMore`: those
   * steps belong to the first one.
   */
  hold(steps: readonly Step[], options?: { fresh?: boolean; isMore?: boolean }): Promise<Try>;
  readonly stopped: Stop | undefined;
  readonly spent: Cost;
  readonly isMoved: boolean;
}

/**
 * Prepares a run: the budget is that of the plan, and no exchange is held before `hold`. Against an emulator that lets
 * its clock be moved, waiting moves it.
 */
export function createHolding(options: HoldOptions): Holding {
  const { clock, signal, plan, maxRequests, onSpent } = options;
  const stop = createStopWatch();
  const devices = createDevices(options.devices, options.isAlone);
  const budget = createBudget(addCosts([plan.cost, plan.confirmCost]), { maxRequests, onSpent });
  const pace = createPace(clock, options.requestsPerSecond);
  let clockwork: Clockwork | undefined;
  let tries = 0;
  let first: Asker | undefined;
  /** What was seen while the clock was looked for. */
  const early: Seen[] = [];
  const conductWith = (chosen: Clockwork): Conduct => ({
    ...options,
    ...{ stop, budget, pace, clockwork: chosen, onSeen: options.onSeen ?? (() => {}) },
  });

  return {
    get stopped() {
      return stop.stopped;
    },
    get spent() {
      return budget.spent;
    },
    get isMoved() {
      return clockwork?.isMoved === true;
    },
    async hold(steps, { fresh = false, isMore = false } = {}) {
      if (!isMore) tries += 1;
      const number = tries === 1 ? 1 : 2;
      const suffix = tries === 1 ? '' : `/${tries}`;
      let left = steps;
      try {
        if (clockwork === undefined) {
          const probe = createAsker(conductWith(createRealClockwork(clock)), devices);
          const taken = await takeOverClock({ ...options, steps, ask: probe, budget });
          clockwork = taken.clockwork ?? createRealClockwork(clock);
          if (taken.answered !== undefined) {
            early.push(...probe.seen());
            left = steps.filter(({ id }) => id !== taken.answered);
          }
        }
      } catch (thrown) {
        stopBySignal(thrown);
        return { seen: [], leftOut: new Map() };
      }
      const chosen = clockwork;
      const own = () =>
        createAsker(conductWith(chosen), fresh ? createFreshDevices(devices) : devices, suffix);
      const ask = isMore && first !== undefined ? first : own();
      first ??= ask;
      const { seen, leftOut } = await runAndEnd(ask, left, { number, suffix, chosen });
      return { seen: [...(number === 1 ? early : []), ...seen], leftOut };
    },
  };

  async function runAndEnd(
    ask: Asker,
    steps: readonly Step[],
    { number, suffix, chosen }: { number: 1 | 2; suffix: string; chosen: Clockwork },
  ): Promise<Try> {
    const held: string[] = [];
    const running = runSteps({
      ...{ steps, ask, budget, signal, clockwork: chosen },
      isStopped: () => stop.stopped !== undefined,
      onStep: (step) => options.onStep?.(step, number),
      onWait: (ms) => options.onWait?.(ms),
      onHeld(step) {
        held.push(step.id);
        if (number === 1) options.onHeld?.(step, ask.seen);
      },
    });
    try {
      return { leftOut: await abortable(running, signal), seen: ask.seen() };
    } catch (thrown) {
      stopBySignal(thrown);
      const isHeld = (id: string) => held.some((step) => isOfStep(id.replace(suffix, ''), step));
      return { leftOut: new Map(), seen: ask.seen().filter(({ id }) => isHeld(id)) };
    } finally {
      await ask.end();
    }
  }

  function stopBySignal(thrown: unknown): void {
    if (!signal.aborted) throw thrown;
    stop.end(toVoicectlError(signal.reason));
  }
}

/** Whether an exchange is of a step. */
export function isOfStep(id: string, step: string): boolean {
  return id === step || id.startsWith(`${step}-`) || (step === 'C' && /^C\d+$/.test(id));
}
