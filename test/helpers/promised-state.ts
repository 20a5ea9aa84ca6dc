import { setImmediate as nextTurn } from 'node:timers/promises';
import type { State } from '../../src/service/state/state.ts';

/** A state that answers a turn of the event loop later, as one that another process holds. */
export function promiseState(state: State): State {
  const later = async <Value>(call: () => Value): Promise<Awaited<Value>> => {
    await nextTurn();
    const value = await call();
    await nextTurn();
    return value;
  };
  return {
    ...state,
    countRequest: (device) => later(() => state.countRequest(device)),
    rememberIssued: (token) => later(() => state.rememberIssued(token)),
    spendToken: (token) => later(() => state.spendToken(token)),
    leaseSlot: (device) => later(() => state.leaseSlot(device)),
    survey: () => later(state.survey),
    advance: (ms) => later(() => state.advance(ms)),
    forget: () => later(state.forget),
    journal: {
      ...state.journal,
      read: (filter, limit) => later(() => state.journal.read(filter, limit)),
      clear: () => later(state.journal.clear),
    },
  };
}
