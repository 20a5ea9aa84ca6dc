import type { Worker } from 'node:cluster';
import { VoicectlError } from '../../kernel/errors.ts';
import type { ControlCall, FromEmulator, ServedControl, ToEmulator } from './messages.ts';

interface Waiting {
  worker: Worker;
  resolve: (result: never) => void;
  reject: (failure: VoicectlError) => void;
}

/** The control of all emulators, by way of one of their processes. */
export interface RemoteControl {
  readonly control: ServedControl;
  take(message: FromEmulator & { type: 'result' | 'refused' }): void;
  /** The process has ended: nothing comes any more. */
  dropped(worker: Worker): void;
}

export function createRemoteControl(any: () => Worker | undefined): RemoteControl {
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  const call = <Result>(name: ControlCall, ...args: unknown[]): Promise<Result> =>
    new Promise((resolve, reject) => {
      const worker = any();
      if (worker === undefined) {
        reject(unreachable());
        return;
      }
      const id = ++calls;
      waiting.set(id, { worker, resolve, reject });
      worker.send({ type: 'call', id, name, args } satisfies ToEmulator);
    });
  return {
    control: {
      state: () => call('state'),
      time: () => call('time'),
      advance: (ms) => call('advance', ms),
      send: (selector, message) => call('send', selector, message),
      close: (selector, code, reason) => call('close', selector, code, reason),
      faults: {
        add: (input) => call('faults.add', input),
        clear: (id) => call('faults.clear', id),
      },
    },
    take(message) {
      const asked = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.type === 'result') asked?.resolve(message.result as never);
      else asked?.reject(new VoicectlError(message.code, message.message, { hint: message.hint }));
    },
    dropped(worker) {
      for (const [id, asked] of waiting) {
        if (asked.worker !== worker) continue;
        waiting.delete(id);
        asked.reject(unreachable());
      }
    },
  };
}

function unreachable(): VoicectlError {
  return new VoicectlError('connect-failed', 'No process of the emulator answers', { retryable: true });
}
