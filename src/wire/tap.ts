import type { Exchange, StreamEnd, Upgrade, WireMessage } from './exchange.ts';

/**
 * Observes one conversation on any side: client leg, emulator and proxy all report to one. It never changes
 * the traffic; with `ready` it may slow the source down. Without a tap nothing is created.
 */
export interface Tap {
  /** The session begins: time 0 of its events. Only for the sessions of a client. */
  began?(at: number): void;
  /** A token request has ended, granted or not: one for each attempt. */
  token?(exchange: Extract<Exchange, { kind: 'token' }>): void;
  /** The upgrade was answered, or failed. */
  opened?(upgrade: Upgrade): void;
  message?(message: WireMessage): void;
  closed?(end: StreamEnd): void;
  /** Resolves when it can take more; undefined if it can now. */
  ready?(): Promise<void> | undefined;
}

/** Several taps as one, called in order. */
export function joinTaps(...taps: readonly (Tap | undefined)[]): Tap {
  const present = taps.filter((tap) => tap !== undefined);
  return {
    began(at) {
      for (const tap of present) tap.began?.(at);
    },
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
