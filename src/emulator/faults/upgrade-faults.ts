import type { Duplex } from 'node:stream';
import type { Clock, ClockTimer } from '../../clock.ts';
import { errorBody } from '../../protocol/error-body.ts';
import { sendRawAnswer } from '../http-answer.ts';
import type { Faults } from './faults.ts';

/** Stands before each WebSocket upgrade. */
export interface UpgradeFaults {
  /** Lets the upgrade go on, now or late, unless a fault answers it or keeps it waiting. */
  pass(socket: Duplex, goOn: () => void): void;
  /** Drops the sockets that are kept waiting. */
  close(): void;
}

export function createUpgradeFaults(faults: Faults, clock: Clock): UpgradeFaults {
  const waiting = new Set<Duplex>();

  const hold = (socket: Duplex, timer?: ClockTimer) => {
    waiting.add(socket);
    socket.once('close', () => {
      waiting.delete(socket);
      timer?.cancel();
    });
    // Node leaves such a socket half open; and without a reader its end would not be noticed.
    socket.once('end', () => socket.destroy());
    socket.resume();
  };

  return {
    pass(socket, goOn) {
      const struck = faults.take('upgrade', {});
      let delay = 0;
      for (const fault of struck) {
        switch (fault.name) {
          case 'upgrade-slow':
            delay += fault.delay;
            break;
          case 'upgrade-refused':
            sendRawAnswer(socket, {
              status: fault.status,
              body: errorBody('UPGRADE_REFUSED', 'The service does not take this upgrade'),
            });
            return;
          case 'upgrade-reset':
            reset(socket);
            return;
          case 'upgrade-hang':
            hold(socket);
            return;
        }
      }
      if (delay === 0) goOn();
      else
        hold(
          socket,
          clock.after(delay, () => release(socket, goOn)),
        );
    },
    close() {
      for (const socket of waiting) socket.destroy();
    },
  };

  function release(socket: Duplex, goOn: () => void): void {
    waiting.delete(socket);
    if (!socket.destroyed) goOn();
  }
}

function reset(socket: Duplex): void {
  if ('resetAndDestroy' in socket && typeof socket.resetAndDestroy === 'function') socket.resetAndDestroy();
  else socket.destroy();
}
