import type { MovableClock } from '../../kernel/clock.ts';
import type { TokenClaims } from '../../protocol/claims.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import type { Eventual } from '../../service/state/eventual.ts';
import { createMemoryState } from '../../service/state/memory.ts';
import type { SlotLease, State } from '../../service/state/state.ts';
import { isUnavailable } from '../../service/state/unavailable.ts';
import type { SharedService } from './shared-service.ts';

export interface LocalStateOptions {
  clock: MovableClock;
  dialect: Dialect;
  rateLimit: number;
  maxConnections: number;
}

/**
 * The shared state, and while Redis cannot be reached a state of this emulator alone, with the same limits. When Redis is back,
 * the streams of that time get their slots, as far as there are any: the others are closed.
 */
export function withLocalState(shared: SharedService, options: LocalStateOptions): State {
  const { state } = shared;
  const local = createMemoryState(options);
  /** Asks the shared state, or if it cannot be reached the local one. */
  const either = async <Answer>(ask: () => Eventual<Answer>, alone: () => Answer): Promise<Answer> => {
    if (!shared.isUp()) return alone();
    try {
      return await ask();
    } catch (thrown) {
      if (!isUnavailable(thrown) || shared.isUp()) throw thrown;
      return alone();
    }
  };
  const leaseAlone = (device: string): SlotLease | undefined => {
    const lease = local.leaseSlot(device);
    if (lease === undefined) return undefined;
    const adopted = shared.adopt(device, lease.connections);
    return {
      ...adopted,
      release() {
        lease.release();
        adopted.release();
      },
    };
  };
  const spendAlone = (token: TokenClaims): boolean => {
    const isFirst = local.spendToken(token);
    if (isFirst) shared.spendLater(token);
    return isFirst;
  };
  return {
    ...state,
    countRequest: (device) =>
      either(
        () => state.countRequest(device),
        () => local.countRequest(device),
      ),
    lookAtLimit: (device) =>
      either(
        () => state.lookAtLimit(device),
        () => local.lookAtLimit(device),
      ),
    spendToken: (token) =>
      either(
        () => state.spendToken(token),
        () => spendAlone(token),
      ),
    leaseSlot: (device) =>
      either(
        () => state.leaseSlot(device),
        () => leaseAlone(device),
      ),
  };
}
