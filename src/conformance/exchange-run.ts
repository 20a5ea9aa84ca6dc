import type { Clock } from '../kernel/clock.ts';
import { toVoicectlError, type VoicectlError } from '../kernel/errors.ts';
import { abortable } from '../kernel/promises.ts';
import { controlOperation, controlPrefix } from '../protocol/control.ts';
import { isRecord } from '../protocol/error-body.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { serviceUrl } from '../protocol/paths.ts';
import { developmentKey } from '../protocol/token-request.ts';
import type { Seen } from '../rules/rule.ts';
import { createControlCaller } from '../wire/client/control.ts';
import { type Asker, createAsker, type RunContext, signOfLifeMs } from './asker.ts';
import { type Budget, createBudget, createPace, NotAsked } from './budget.ts';
import { type Clockwork, createMovedClockwork, createRealClockwork } from './clockwork.ts';
import { addCosts, type Cost, totalOf } from './cost.ts';
import { createDevices, createFreshDevices } from './devices.ts';
import type { Plan, PlanOptions } from './plan.ts';
import { isOfStep, type Step } from './steps/step.ts';
import { unknownPathStep } from './steps/token-steps.ts';
import { createStopWatch } from './stop.ts';

export interface ExchangeRunOptions
  extends Pick<RunContext, 'subject' | 'signal' | 'redactor' | 'verify' | 'speech'> {
  /** The first is the user’s own; up to three more take the other roles. */
  devices: readonly [string, ...string[]];
  scope: PlanOptions;
  plan: Plan;
  maxRequests?: number | undefined;
  /** If time cannot be moved. Default 2. */
  requestsPerSecond?: number;
  clock: Clock;
  /** Set if the service is known to be an emulator whose clock may be moved. */
  isEmulator?: boolean;
  /** Size of one move of an emulator's clock over short spans. */
  grainMs?: number | undefined;
  /** Called before each step. */
  onStep?: (step: Step, tryNumber: 1 | 2) => void;
  onWait?: (ms: number) => void;
  /** Called after each step of the first try, with a look at the exchanges so far. */
  onHeld?: ((step: Step, seen: () => readonly Seen[]) => void) | undefined;
  /** Called when another request or connection has begun. */
  onSpent?: ((spent: Cost) => void) | undefined;
}

/** The result of one try. */
export interface AttemptResult {
  /** If the signal stopped the run: of the steps that had ended. */
  seen: readonly Seen[];
  leftOut: LeftOut;
}

/** A run that holds planned exchanges, and may hold some of them a second time. */
export interface ExchangeRun {
  /**
   * After an abort, the result is what was found so far. Each call is a separate try, except with `isMore`: those
   * steps belong to the first one.
   */
  hold(steps: readonly Step[], options?: { fresh?: boolean; isMore?: boolean }): Promise<AttemptResult>;
  readonly stopped: VoicectlError | undefined;
  readonly spent: Cost;
}

/**
 * Prepares a run: the budget is that of the plan, and no exchange is held before `hold`. Against an emulator that lets
 * its clock be moved, waiting moves it.
 */
export function createExchangeRun(options: ExchangeRunOptions): ExchangeRun {
  const { clock, signal, plan, maxRequests, onSpent } = options;
  const stop = createStopWatch({ isKeyMadeUp: options.subject.apiKey === developmentKey });
  const devices = createDevices(options.devices, options.scope.isAlone);
  const budget = createBudget(addCosts([plan.cost, plan.confirmCost]), { maxRequests, onSpent });
  const pace = createPace(clock, options.requestsPerSecond);
  let clockwork: Clockwork | undefined;
  let tries = 0;
  let first: Asker | undefined;
  /** What was seen while finding out whether the clock can be moved. */
  const early: Seen[] = [];
  const contextWith = (chosen: Clockwork): RunContext => ({
    ...options,
    ...{ stop, budget, pace, clockwork: chosen, waitMs: options.scope.waitMs },
  });

  return {
    get stopped() {
      return stop.stopped;
    },
    get spent() {
      return budget.spent;
    },
    async hold(steps, { fresh = false, isMore = false } = {}) {
      if (!isMore) tries += 1;
      const number = tries === 1 ? 1 : 2;
      const suffix = tries === 1 ? '' : `/${tries}`;
      let left = steps;
      try {
        if (clockwork === undefined) {
          const probe = createAsker(contextWith(createRealClockwork(clock)), devices);
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
        createAsker(contextWith(chosen), fresh ? createFreshDevices(devices) : devices, suffix);
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
  ): Promise<AttemptResult> {
    const held: Step[] = [];
    const running = runSteps({
      ...{ steps, ask, budget, signal, clockwork: chosen },
      isStopped: () => stop.stopped !== undefined,
      onStep: (step) => options.onStep?.(step, number),
      onWait: (ms) => options.onWait?.(ms),
      onHeld(step) {
        held.push(step);
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

type TakeOverOptions = Pick<ExchangeRunOptions, 'subject' | 'clock' | 'signal' | 'isEmulator' | 'grainMs'> &
  Pick<RunStepsOptions, 'steps' | 'ask' | 'budget'>;

interface TakenOver {
  /** Undefined if time cannot be moved. */
  clockwork: Clockwork | undefined;
  /** The step that was answered in the process. */
  answered: string | undefined;
}

/**
 * Finds out whether the service is an emulator on this machine whose clock may be moved. If that is not known, the
 * unknown path that is requested anyway is that of an emulator's clock: it costs nothing extra.
 */
async function takeOverClock(options: TakeOverOptions): Promise<TakenOver> {
  const { subject, steps, ask, isEmulator } = options;
  const { hostname } = new URL(subject.baseUrl);
  if (!isLoopbackHost(hostname)) return { clockwork: undefined, answered: undefined };
  if (isEmulator === true) return { clockwork: moving(options, 0), answered: undefined };
  if (!steps.some(({ id }) => id === unknownPathStep.id))
    return { clockwork: undefined, answered: undefined };
  const url = serviceUrl(subject.baseUrl, controlPrefix + controlOperation('clock').path);
  const { exchange } = await ask.plain(unknownPathStep.id, { url });
  const body = exchange.kind === 'token' ? parseJson(exchange.answer?.body ?? '') : undefined;
  const aheadMs = isRecord(body) && typeof body.now === 'string' ? body.aheadMs : undefined;
  if (typeof aheadMs !== 'number') return { clockwork: undefined, answered: unknownPathStep.id };
  options.budget.giveBack('plain');
  // The answer of a proxy says nothing of the service.
  if (isRecord(body) && body.proxy === true) return { clockwork: undefined, answered: undefined };
  return { clockwork: moving(options, aheadMs), answered: undefined };
}

function moving({ subject, clock, signal, grainMs }: TakeOverOptions, aheadMs: number): Clockwork {
  const target = { baseUrl: subject.baseUrl, ca: subject.ca, secret: undefined, signal };
  return createMovedClockwork({
    base: clock,
    aheadMs,
    grainMs,
    createMover() {
      const { call, end } = createControlCaller(target);
      return { advance: async (ms) => void (await call('advance', { body: { advanceMs: ms } })), end };
    },
  });
}

interface RunStepsOptions {
  steps: readonly Step[];
  ask: Asker;
  budget: Budget;
  clockwork: Clockwork;
  signal: AbortSignal;
  isStopped: () => boolean;
  /** Called before each step, and before each wait. */
  onStep: (step: Step) => void;
  onWait: (ms: number) => void;
  /** Called after each step that has ended or was left out. */
  onHeld: (step: Step) => void;
}

/** Why each step that was left out was, by its id. */
type LeftOut = ReadonlyMap<string, string>;

/**
 * Holds the planned exchanges in their order: those that wait for nothing first, the others when they are due. Returns
 * what was left out. Throws the signal's reason.
 */
async function runSteps(options: RunStepsOptions): Promise<LeftOut> {
  const { steps, ask, budget, clockwork, signal, isStopped, onStep, onWait, onHeld } = options;
  const { clock } = clockwork;
  const begun = new Map<string, number>();
  const running = new Map<string, Promise<void>>();
  const leftOut = new Map<string, string>();
  let failure: { thrown: unknown } | undefined;

  const start = (step: Step): Promise<void> => {
    begun.set(step.id, clock.now());
    if (!budget.fits(step.cost)) {
      leftOut.set(step.id, 'the request budget is used up');
      onHeld(step);
      return Promise.resolve();
    }
    onStep(step);
    return step
      .run(ask)
      .then(() => onHeld(step))
      .catch((thrown) => {
        if (thrown instanceof NotAsked) leftOut.set(step.id, thrown.message);
        else failure ??= { thrown };
      });
  };
  const idle = () => Promise.all(running.values());
  const dueAt = ({ after }: Step) => {
    if (after === undefined) return Number.NEGATIVE_INFINITY;
    return (begun.get(after.step) ?? Number.NEGATIVE_INFINITY) + after.ms;
  };

  const pending = [...steps];
  const pass = async (until: number) => {
    onWait(until - clock.now());
    do {
      const at = ask.keepAlive() ? Math.min(until, clock.now() + signOfLifeMs) : until;
      // Where time is moved, what was sent must arrive before its time has passed.
      if (clockwork.isMoved) await ask.settle();
      await clockwork.pass(at, signal, () => ask.hasOpenLines);
    } while (clock.now() < until);
    if (clockwork.isMoved) await ask.settle();
  };
  while (pending.length > 0 && failure === undefined && !isStopped()) {
    signal.throwIfAborted();
    const possible = pending.filter((step) => !pending.some(({ id }) => waitsFor(step, id)));
    const next = possible.find((step) => dueAt(step) <= clock.now()) ?? earliest(possible, dueAt);
    if (next === undefined) break;
    const isMoot = totalOf(next.cost) > 0 && !budget.fits(next.cost);
    if (dueAt(next) > clock.now() && !isMoot) await pass(dueAt(next));
    pending.splice(pending.indexOf(next), 1);
    await Promise.all((next.uses ?? []).map((used) => running.get(used)));
    const done = start(next);
    // If time is moved, the wait of one step must not affect another.
    if (next.background && !clockwork.isMoved) running.set(next.id, done);
    else await done;
  }
  await idle();
  if (failure !== undefined) throw failure.thrown;
  return leftOut;
}

/** Whether a step can only come after another one. */
function waitsFor({ uses = [], after }: Step, id: string): boolean {
  return uses.includes(id) || after?.step === id;
}

function earliest(steps: readonly Step[], dueAt: (step: Step) => number): Step | undefined {
  return steps.reduce<Step | undefined>(
    (best, step) => (best === undefined || dueAt(step) < dueAt(best) ? step : best),
    undefined,
  );
}
