import type { Asker } from './asker.ts';
import { type Budget, NotAsked } from './budget.ts';
import type { Clockwork } from './clockwork.ts';
import { totalOf } from './cost.ts';
import type { Step } from './steps/step.ts';

export interface RunStepsOptions {
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

/** Why each step that was not asked was not, by its id. */
export type LeftOut = ReadonlyMap<string, string>;

/**
 * Holds the planned exchanges in their order: those that wait for nothing first, the others when they are due. Returns
 * what was left out. Throws the signal's reason.
 */
export async function runSteps(options: RunStepsOptions): Promise<LeftOut> {
  const { steps, ask, budget, clockwork, signal, isStopped, onStep, onWait, onHeld } = options;
  const { clock } = clockwork;
  const begun = new Map<string, number>();
  const running = new Map<string, Promise<void>>();
  const leftOut = new Map<string, string>();
  let failure: { thrown: unknown } | undefined;

  const start = (step: Step): Promise<void> => {
    begun.set(step.id, clock.now());
    if (!budget.fits(step.cost)) {
      leftOut.set(step.id, 'the budget is used up');
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
    await clockwork.pass(until, signal, () => ask.hasOpenLines);
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
