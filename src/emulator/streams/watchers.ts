import { joinWatches, type SentWatch } from './tap-stream.ts';

/** Makes an observer of a stream; `isOurEnd` tells whether this side has ended it. */
export type MakeWatch = (isOurEnd: () => boolean) => SentWatch;

/** The observers of one stream. */
export interface Watchers {
  /** All observers as one; undefined if there are none. */
  readonly watch: SentWatch | undefined;
  /** Adds an observer. Call the result to remove it. */
  add(make: MakeWatch): () => void;
}

export function createWatchers(isOurEnd: () => boolean, first?: MakeWatch): Watchers {
  const observers: SentWatch[] = first === undefined ? [] : [first(isOurEnd)];
  let watch = joinWatches(observers);
  return {
    get watch() {
      return watch;
    },
    add(make) {
      const added = make(isOurEnd);
      observers.push(added);
      watch = joinWatches(observers);
      return () => {
        added.stop();
        observers.splice(observers.indexOf(added), 1);
        watch = joinWatches(observers);
      };
    },
  };
}
