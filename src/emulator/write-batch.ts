import type { Socket } from 'node:net';
import { atTurnEnd } from '../clock.ts';

/**
 * What is sent in one turn of the event loop leaves at its end: first everything that came in is dealt with, then
 * every socket writes once, however many messages it has.
 */
export interface WriteBatch {
  /** Has what is written to this socket wait for the end of the turn. */
  hold(socket: Socket): void;
  /** Lets go what one socket has waiting, at once. */
  release(socket: Socket): void;
}

/** More than this waits for no end: a peer that could take it would else seem not to read. */
const maxHeldBytes = 64 * 1024;

/** What waits is bounded for each socket, and waits no longer than one turn. */
export function createWriteBatch(schedule: (call: () => void) => void = atTurnEnd): WriteBatch {
  const held = new Set<Socket>();
  const flush = () => {
    for (const socket of held) socket.uncork();
    held.clear();
  };
  return {
    hold(socket) {
      if (held.has(socket)) {
        if (socket.writableLength < maxHeldBytes) return;
        socket.uncork();
        socket.cork();
        return;
      }
      if (held.size === 0) schedule(flush);
      held.add(socket);
      socket.cork();
    },
    release(socket) {
      if (held.delete(socket)) socket.uncork();
    },
  };
}
