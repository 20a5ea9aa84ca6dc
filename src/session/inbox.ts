import type { QueueHandlers } from './backpressure.ts';

/** What may wait for a reader: about half a minute of audio. Beyond it the source is asked to rest. */
const maxWaitingBytes = 1024 * 1024;
/** What an item costs beside its audio. */
const itemBytes = 256;

/** Carries what arrives to the one loop that reads it, in order. */
export interface Inbox<Item> {
  /** `bytes`: the audio in it. */
  push(item: Item, bytes?: number): void;
  /** Ends the loop, after all that waits: by throwing, where there is a reason to. */
  end(failure?: unknown): void;
  /** A loop that is left can be taken up by another. */
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
