import type { WebSocket } from 'ws';
import { atTurnEnd } from '../../kernel/clock.ts';

/** After this many messages everything else runs: keys, timers, other sockets. */
const messagesAtOnce = 256;

/** Reads from a socket until it is paused, in batches that leave time for other work. */
export interface Reading {
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
  /** Call it for each message that arrives. */
  took(): void;
}

/** Without batches, all other work would wait during a flood of messages. */
export function createReading(socket: Pick<WebSocket, 'pause' | 'resume'>): Reading {
  let count = 0;
  let isPaused = false;
  let isResting = false;
  const goOn = () => {
    isResting = false;
    if (!isPaused) socket.resume();
  };
  return {
    get isPaused() {
      return isPaused;
    },
    pause() {
      isPaused = true;
      socket.pause();
    },
    resume() {
      isPaused = false;
      if (!isResting) socket.resume();
    },
    took() {
      count += 1;
      if (count < messagesAtOnce) return;
      count = 0;
      if (isResting) return;
      isResting = true;
      socket.pause();
      atTurnEnd(goOn, undefined);
    },
  };
}
