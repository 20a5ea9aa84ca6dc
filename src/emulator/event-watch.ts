import { VoicectlError } from '../kernel/errors.ts';
import type { EmulatorEvent, EmulatorEvents } from './events.ts';
import type { Journal } from './state/journal.ts';

type EventOf<Type extends EmulatorEvent['type']> = Extract<EmulatorEvent, { type: Type }>;

/** How a program that runs an emulator sees what happens in it. */
export interface EventWatch {
  /** Calls the listener for each event of this type from now on; the result ends that. */
  on<Type extends EmulatorEvent['type']>(type: Type, listener: (event: EventOf<Type>) => void): () => void;
  /**
   * The first event of this type that `matches`: of those that the journal remembers, else of those to come. Rejects
   * with the signal's reason, and with `interrupted` where the emulator closes without one.
   */
  waitFor<Type extends EmulatorEvent['type']>(
    type: Type,
    matches?: (event: EventOf<Type>) => boolean,
    options?: { signal?: AbortSignal },
  ): Promise<EventOf<Type>>;
}

/** `closed` is aborted when the emulator is gone. */
export function createEventWatch(events: EmulatorEvents, journal: Journal, closed: AbortSignal): EventWatch {
  const on: EventWatch['on'] = (type, listener) =>
    events.subscribe((event) => {
      if (isOf(event, type)) listener(event);
    });

  const waitFor: EventWatch['waitFor'] = (type, matches = () => true, { signal } = {}) =>
    new Promise((resolve, reject) => {
      const fits = (event: EmulatorEvent) => isOf(event, type) && matches(event);
      const found = journal.read({ type }, Number.POSITIVE_INFINITY).find(fits);
      if (found !== undefined && isOf(found, type)) {
        resolve(found);
        return;
      }
      const ending = signal === undefined ? closed : AbortSignal.any([signal, closed]);
      const fail = () => {
        stop();
        reject(signal?.aborted ? signal.reason : closedBefore(type));
      };
      const unsubscribe = on(type, (event) => {
        if (!matches(event)) return;
        stop();
        resolve(event);
      });
      const stop = () => {
        unsubscribe();
        ending.removeEventListener('abort', fail);
      };
      if (ending.aborted) fail();
      else ending.addEventListener('abort', fail, { once: true });
    });

  return { on, waitFor };
}

function isOf<Type extends EmulatorEvent['type']>(event: EmulatorEvent, type: Type): event is EventOf<Type> {
  return event.type === type;
}

function closedBefore(type: string): VoicectlError {
  return new VoicectlError('interrupted', `The emulator closed, and there was no event of type ${type}`);
}
