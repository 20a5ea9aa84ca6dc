import type { Clock } from '../kernel/clock.ts';
import { controlOperation, controlPrefix } from '../protocol/control.ts';
import { isRecord } from '../protocol/error-body.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { serviceUrl } from '../protocol/paths.ts';
import { callControl } from '../wire/client/control.ts';
import type { Asker, Subject } from './asker.ts';
import type { Budget } from './budget.ts';
import { type Clockwork, createMovedClockwork } from './clockwork.ts';
import type { Step } from './steps/step.ts';
import { unknownPathStep } from './steps/token-steps.ts';

export interface TakeOverOptions {
  subject: Subject;
  steps: readonly Step[];
  ask: Asker;
  budget: Budget;
  clock: Clock;
  signal: AbortSignal;
  isEmulator?: boolean;
  grainMs?: number | undefined;
}

export interface TakenOver {
  /** Undefined if time cannot be moved. */
  clockwork: Clockwork | undefined;
  /** The step that was answered on the way. */
  answered: string | undefined;
}

/**
 * Finds out whether the service is an emulator of this machine whose clock may be moved. If that is not known, the
 * unknown path that is asked anyway is that of an emulator's clock: it costs nothing more.
 */
export async function takeOverClock(options: TakeOverOptions): Promise<TakenOver> {
  const { subject, steps, ask, isEmulator } = options;
  const { hostname } = new URL(subject.baseUrl);
  if (!isLoopbackHost(hostname)) return { clockwork: undefined, answered: undefined };
  if (isEmulator === true) return { clockwork: moving(options, 0), answered: undefined };
  if (!steps.some(({ id }) => id === unknownPathStep.id))
    return { clockwork: undefined, answered: undefined };
  const url = serviceUrl(subject.baseUrl, controlPrefix + controlOperation('clock').path);
  const { exchange } = await ask.plain(unknownPathStep.id, { method: 'GET', url });
  const body = exchange.kind === 'token' ? parseJson(exchange.answer?.body ?? '') : undefined;
  const aheadMs = isRecord(body) && typeof body.now === 'string' ? body.aheadMs : undefined;
  if (typeof aheadMs !== 'number') return { clockwork: undefined, answered: unknownPathStep.id };
  options.budget.giveBack('plain');
  return { clockwork: moving(options, aheadMs), answered: undefined };
}

function moving({ subject, clock, signal, grainMs }: TakeOverOptions, aheadMs: number): Clockwork {
  const target = { baseUrl: subject.baseUrl, ca: subject.ca, secret: undefined, signal };
  return createMovedClockwork({
    base: clock,
    aheadMs,
    grainMs,
    advance: async (ms) => void (await callControl(target, 'advance', { body: { advanceMs: ms } })),
  });
}
