import type { ErrorDetails } from '../../kernel/errors.ts';
import { deviceError } from '../device-error.ts';
import type { DeviceProcess } from '../process/device-process.ts';

/** The loss of a device: a signal for a caller that waits again and again, and a promise for one that waits once. */
export interface Loss {
  readonly signal: AbortSignal;
  readonly lost: Promise<never>;
  lose(why: string, details?: Record<string, unknown>): void;
}

/** A device is lost with its process. */
export function createLoss(child: DeviceProcess, onLost = () => {}): Loss {
  const controller = new AbortController();
  const { signal } = controller;
  const lost = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  // Handled also where nobody waits for it.
  lost.catch(() => {});
  const lose = (why: string, details: ErrorDetails = {}) => {
    controller.abort(deviceError(why, { details }));
    onLost();
  };
  void child.ended.then((why) => lose(why));
  return { signal, lost, lose };
}
