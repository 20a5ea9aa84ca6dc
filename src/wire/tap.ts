import type { Exchange, StreamEnd, Upgrade, WireMessage } from './exchange.ts';

/**
 * Looks on as one conversation passes, on whichever side: client leg, emulator and proxy all tell one. It never changes
 * what passes; by `ready` it may slow the source down. Nothing is made for a tap where there is none.
 */
export interface Tap {
  /** A token request has ended, granted or not: one for each attempt. */
  token?(exchange: Extract<Exchange, { kind: 'token' }>): void;
  /** The upgrade was answered, or failed. */
  opened?(upgrade: Upgrade): void;
  message?(message: WireMessage): void;
  closed?(end: StreamEnd): void;
  /** Resolves when it can take more; undefined where it can at once. */
  ready?(): Promise<void> | undefined;
}

/** Several taps as one, told in their order. */
export function joinTaps(...taps: readonly (Tap | undefined)[]): Tap {
  const present = taps.filter((tap) => tap !== undefined);
  return {
    token(exchange) {
      for (const tap of present) tap.token?.(exchange);
    },
    opened(upgrade) {
      for (const tap of present) tap.opened?.(upgrade);
    },
    message(message) {
      for (const tap of present) tap.message?.(message);
    },
    closed(end) {
      for (const tap of present) tap.closed?.(end);
    },
    ready() {
      const waits = present.map((tap) => tap.ready?.()).filter((wait) => wait !== undefined);
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
    },
  };
}
