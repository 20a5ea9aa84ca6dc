import type { QueueHandlers } from './backpressure.ts';
import type { AudioDirection, SessionEvent } from './events.ts';
import { type AudioEvent, sumAudio } from './fold-audio.ts';

/**
 * Most events that wait for a slow view. Beyond it audio is folded into the newest waiting event, and
 * the source of other events is asked to pause.
 */
const maxWaiting = 4_096;

/** Carries events from the callbacks that make them to the one loop that reads them. */
export interface EventQueue {
  push(event: SessionEvent): void;
  /** Ends the loop, after all waiting events. */
  end(): void;
  read(): AsyncGenerator<SessionEvent>;
}

export function createEventQueue({ onFull, onDrained }: QueueHandlers): EventQueue {
  let waiting: SessionEvent[] = [];
  /** Index in `waiting` of the newest audio of each direction. */
  const newest = new Map<AudioDirection, number>();
  let ended = false;
  let wake: (() => void) | undefined;
  const notify = () => {
    wake?.();
    wake = undefined;
  };
  const take = () => {
    const batch = waiting;
    waiting = [];
    newest.clear();
    if (batch.length > maxWaiting) onDrained();
    return batch;
  };
  const pushAudio = (event: AudioEvent) => {
    const index = newest.get(event.direction);
    if (waiting.length < maxWaiting || index === undefined) {
      newest.set(event.direction, waiting.length);
      waiting.push(event);
      return;
    }
    const before = waiting[index] as AudioEvent;
    // It keeps its place and its time.
    waiting[index] = { ...before, ...sumAudio(before, event) };
  };
  return {
    push(event) {
      if (event.type === 'audio') pushAudio(event);
      else waiting.push(event);
      if (waiting.length > maxWaiting) onFull();
      notify();
    },
    end() {
      ended = true;
      notify();
    },
    async *read() {
      for (;;) {
        yield* take();
        if (waiting.length > 0) continue;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
