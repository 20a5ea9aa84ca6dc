import type { Duplex } from 'node:stream';
import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import { errorBody } from '../../protocol/error-body.ts';
import { sendRawAnswer } from '../../wire/server/http-answer.ts';
import type { Faults } from './faults.ts';

/** Applies faults to each WebSocket upgrade before it is answered. */
export interface UpgradeFaults {
  /** Calls `goOn`, now or after a delay, unless a fault answers the upgrade or keeps it waiting. */
  pass(socket: Duplex, goOn: () => void): void;
  /** Drops the sockets that are kept waiting. */
  close(): void;
}

export function createUpgradeFaults(faults: Faults, clock: Clock): UpgradeFaults {
  const waiting = new Set<Duplex>();

  /** Keeps a socket until it ends or the result is called. */
  const hold = (socket: Duplex): (() => void) => {
    const letGo = () => {
      waiting.delete(socket);
      socket.off('end', onEnd).off('close', letGo);
    };
    const onEnd = () => socket.destroy();
    waiting.add(socket);
    // Node leaves such a socket half open, and notices its end only while something reads it.
    socket.once('end', onEnd).once('close', letGo).resume();
    return letGo;
  };

  const delayUpgrade = (socket: Duplex, delay: number, goOn: () => void) => {
    const letGo = hold(socket);
    const timer: ClockTimer = clock.after(delay, () => {
      socket.off('close', timer.cancel);
      letGo();
      goOn();
    });
    socket.once('close', timer.cancel);
  };

  return {
    pass(socket, goOn) {
      const struck = faults.strike('upgrade', {});
      let delay = 0;
      for (const fault of struck) {
        switch (fault.name) {
          case 'upgrade-slow':
            delay += fault.delay;
            break;
          case 'upgrade-refused':
            sendRawAnswer(socket, {
              status: fault.status,
              body: errorBody('UPGRADE_REFUSED', 'The service refuses this upgrade'),
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
      else delayUpgrade(socket, delay, goOn);
    },
    close() {
      for (const socket of waiting) socket.destroy();
    },
  };
}

function reset(socket: Duplex): void {
  if ('resetAndDestroy' in socket && typeof socket.resetAndDestroy === 'function') socket.resetAndDestroy();
  else socket.destroy();
}
