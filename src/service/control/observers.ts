import type { Tap } from '../../wire/tap.ts';
import { guarded, guardTap } from '../guard.ts';
import type { ObserveStream } from './page-handler.ts';

export interface ObservedStream {
  number: number;
  /** Milliseconds; 0 for a stream that has just opened. */
  openForMs: number;
  /** Gives it one more tap. Call the result to take it away. */
  give(tap: Tap): () => void;
  onEnd(call: () => void): void;
  /** Ends the stream with what an observer threw. */
  onThrown(thrown: unknown): void;
}

/** Observers that come and go while streams are open. Without one, no stream has a tap. */
export interface Observers {
  readonly any: boolean;
  opened(stream: ObservedStream): void;
  /** Gives a tap to each open stream, and to those that open until the result is called. */
  add(createTap: ObserveStream): () => void;
}

export function createObservers(open: () => Iterable<ObservedStream>): Observers {
  const all = new Set<(stream: ObservedStream) => void>();
  return {
    get any() {
      return all.size > 0;
    },
    opened(stream) {
      for (const observe of all) observe(stream);
    },
    add(createTap) {
      const stops = new Set<() => void>();
      const observe = ({ number, openForMs, give, onEnd, onThrown }: ObservedStream) =>
        guarded(() => {
          const tap = createTap(number, openForMs);
          if (tap === undefined) return;
          const stop = give(guardTap(tap, onThrown));
          stops.add(stop);
          onEnd(() => stops.delete(stop));
        }, onThrown);
      for (const stream of open()) observe(stream);
      all.add(observe);
      return () => {
        all.delete(observe);
        for (const stop of stops) stop();
      };
    },
  };
}
