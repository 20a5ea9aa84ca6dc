import type { FailureDetails } from '../../kernel/errors.ts';
import { deviceError } from '../device-error.ts';
import type { DeviceProcess } from '../process/device-process.ts';

/** The loss of a device: as a signal for repeated waits, and as a promise for a single one. */
export interface Loss {
  readonly signal: AbortSignal;
  readonly lost: Promise<never>;
  lose(why: string, details?: Record<string, unknown>): void;
}

/** The device is also lost when its process ends. */
export function createLoss(child: DeviceProcess, onLost = () => {}): Loss {
  const controller = new AbortController();
  const { signal } = controller;
  const lost = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  // Handled even if nobody waits for it.
  lost.catch(() => {});
  const lose = (why: string, details: FailureDetails = {}) => {
    controller.abort(deviceError(why, { details }));
    onLost();
  };
  void child.ended.then((why) => lose(why));
  return { signal, lost, lose };
}
