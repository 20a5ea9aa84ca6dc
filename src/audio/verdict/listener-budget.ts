import { Listener } from './listener.ts';

/** How many voices one process listens to at the same time: each takes up to half a percent of a core, and 100 kB. */
const mostListeners = 16;

/** Limits how many voices are listened to at once, because there may be thousands of streams. */
export class ListenerBudget {
  private left = mostListeners;
  private onFull: ((most: number) => void) | undefined;

  /** Calls `onFull` once, for the first voice that is not listened to. */
  constructor(onFull?: (most: number) => void) {
    this.onFull = onFull;
  }

  /** A listener for a new voice; undefined if there are too many. */
  acquire(): Listener | undefined {
    if (this.left === 0) {
      this.onFull?.(mostListeners);
      this.onFull = undefined;
      return undefined;
    }
    this.left -= 1;
    return new Listener();
  }

  /** A voice that was listened to has ended. */
  release(): void {
    this.left += 1;
  }
}
