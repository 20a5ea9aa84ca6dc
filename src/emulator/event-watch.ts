import * as z from 'zod';
import { checkOptions, objectOption } from '../files/check-options.ts';
import { atTickEnd, type Clock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import type { EmulatorEvent, EmulatorEvents } from '../service/events.ts';
import { runGuarded } from '../service/guard.ts';
import type { OpenService } from '../service/open-service.ts';
import { requireEventType } from '../service/state/journal.ts';
import { type StateJournal, whenKnown } from '../service/state/state.ts';

type EventOf<Type extends EmulatorEvent['type']> = Extract<EmulatorEvent, { type: Type }>;

/** Lets a program that runs an emulator watch its events. */
export interface EventWatch {
  /**
   * Calls the listener for each event of this type from now on. Call the result to stop. What it throws is thrown again
   * outside the emulator, as an uncaught exception, and changes nothing for the device. Throws `usage` for a type that does
   * not exist.
   */
  on<Type extends EmulatorEvent['type']>(type: Type, listener: (event: EventOf<Type>) => void): () => void;
  /**
   * The first event of this type that `matches`, from the journal or else a future one. Rejects with the signal's reason,
   * with `timed-out` after `timeoutMs`, with `interrupted` if the emulator closes first, with `usage` for a type that does
   * not exist, and with what `matches` throws.
   */
  waitFor<Type extends EmulatorEvent['type']>(
    type: Type,
    matches?: (event: EventOf<Type>) => boolean,
    options?: { signal?: AbortSignal; timeoutMs?: number },
  ): Promise<EventOf<Type>>;
}

/** A running emulator, without its control. */
export interface RunningService extends Readonly<OpenService>, EventWatch {}

/** `closed` aborts when the emulator has closed; `clock`: the machine's. */
export function createEventWatch(
  events: EmulatorEvents,
  journal: Pick<StateJournal, 'read'>,
  { closed, clock }: { closed: AbortSignal; clock: Clock },
): EventWatch {
  const on: EventWatch['on'] = (type, listener) => {
    requireEventType(type);
    requireFunction(listener, 'on: the listener');
    return events.subscribe((event) => {
      if (isOf(event, type)) runGuarded(() => listener(event), throwOutside);
    });
  };

  const waitFor: EventWatch['waitFor'] = (type, matches = () => true, options = {}) =>
    new Promise((resolve, reject) => {
      requireEventType(type);
      requireFunction(matches, 'waitFor: the predicate');
      checkOptions(options, { of: 'waitFor', schemas: waitSchemas });
      const { signal, timeoutMs } = options;
      const ending = signal === undefined ? closed : AbortSignal.any([signal, closed]);
      const stop = () => {
        unsubscribe();
        ending.removeEventListener('abort', fail);
        limit?.cancel();
      };
      const refuse = (why: unknown) => {
        stop();
        reject(why);
      };
      const fail = () => refuse(signal?.aborted ? signal.reason : closedBefore(type));
      const giveUp = () => {
        const late = (entries: readonly EmulatorEvent[]) => refuse(tooLate(type, timeoutMs ?? 0, entries));
        whenKnown(journal.read({}, Number.POSITIVE_INFINITY), late)?.catch(refuse);
      };
      const limit = timeoutMs === undefined ? undefined : clock.after(timeoutMs, giveUp);
      const settle = (event: Parameters<typeof resolve>[0]) => {
        stop();
        resolve(event);
      };
      const unsubscribe = on(type, (event) =>
        runGuarded(() => {
          if (matches(event)) settle(event);
        }, refuse),
      );
      const lookBack = (entries: readonly EmulatorEvent[]) => {
        const found = entries.find((event) => isOf(event, type) && matches(event));
        if (found !== undefined && isOf(found, type)) settle(found);
        else if (ending.aborted) fail();
        else ending.addEventListener('abort', fail, { once: true });
      };
      try {
        const looked = whenKnown(journal.read({ type }, Number.POSITIVE_INFINITY), lookBack);
        if (looked instanceof Promise) looked.catch(refuse);
      } catch (thrown) {
        refuse(thrown);
      }
    });

  return { on, waitFor };
}

const waitSchemas = { signal: objectOption, timeoutMs: z.number().min(0) };

function requireFunction(value: unknown, what: string): void {
  if (typeof value !== 'function') throw new VoicectlError('usage', `${what} must be a function`);
}

/** Throws it where the test runner sees it, and not into the request or stream whose event this was. */
function throwOutside(thrown: unknown): void {
  atTickEnd((error) => {
    throw error;
  }, thrown);
}

function isOf<Type extends EmulatorEvent['type']>(event: EmulatorEvent, type: Type): event is EventOf<Type> {
  return event.type === type;
}

/** How many events are listed if the awaited one did not happen. */
const listed = 8;

function tooLate(type: string, ms: number, entries: readonly EmulatorEvent[]): VoicectlError {
  const last = entries.slice(-listed).map((one) => one.type);
  const text = last.length === 0 ? 'nothing happened' : `the last events were ${last.join(', ')}`;
  return new VoicectlError('timed-out', `No event of type ${type} within ${ms / 1000} s: ${text}`);
}

function closedBefore(type: string): VoicectlError {
  return new VoicectlError('interrupted', `The emulator closed without an event of type ${type}`);
}
