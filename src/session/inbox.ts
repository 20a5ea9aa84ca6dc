import type { QueueHandlers } from './backpressure.ts';

/** Most audio that waits for a reader, about half a minute. Beyond it the source is asked to pause. */
const maxWaitingBytes = 1024 * 1024;
/** Cost of an item besides its audio. */
const itemBytes = 256;

/** Carries what arrives to the one loop that reads it, in order. */
export interface Inbox<Item> {
  /** `bytes`: the audio in it. */
  push(item: Item, bytes?: number): void;
  /** Ends the loop after all waiting items. Given a reason, the loop throws it. */
  end(failure?: unknown): void;
  /** After one loop stops, another can continue. */
  read(): AsyncGenerator<Item, void>;
}

export function createInbox<Item>({ onFull, onDrained }: QueueHandlers): Inbox<Item> {
  const waiting: { item: Item; bytes: number }[] = [];
  let waitingBytes = 0;
  let ending: { failure: unknown } | undefined;
  let wake = () => {};
  return {
    push(item, bytes = 0) {
      waiting.push({ item, bytes: bytes + itemBytes });
      waitingBytes += bytes + itemBytes;
      if (waitingBytes > maxWaitingBytes) onFull();
      wake();
    },
    end(failure) {
      ending ??= { failure };
      wake();
    },
    async *read() {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) {
          waitingBytes -= next.bytes;
          if (waitingBytes <= maxWaitingBytes) onDrained();
          yield next.item;
        } else if (ending === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        } else if (ending.failure === undefined) return;
        else throw ending.failure;
      }
    },
  };
}
