import { type Clock, waitUntil } from '../kernel/clock.ts';

/** How fast audio leaves: 1 is real time, 2 twice as fast; `max` as fast as it is taken. */
export type Pace = number | 'max';

export interface PacerOptions {
  pace: Pace;
  frameMs: number;
  clock: Clock;
  /** Told how late each frame was let go, in milliseconds after its deadline. */
  onFrame?: (lateMs: number) => void;
  /** The pacer was so late that it began to count from now, leaving out this much time. */
  onReanchor?: (skippedMs: number) => void;
}

/** A late pacer lets this many frames go at once; later than that it starts counting from now. */
const maxCatchUpFrames = 10;

/** Lets frames go against a monotonic deadline: the delay of one frame is not added to those after it. */
export interface Pacer {
  /** Resolves when the next frame is due; rejects with the signal's reason. */
  next(signal: AbortSignal): Promise<void>;
}

export function createPacer({ pace, frameMs, clock, onFrame, onReanchor }: PacerOptions): Pacer {
  if (pace === 'max') return { next: async (signal) => signal.throwIfAborted() };
  const intervalMs = frameMs / pace;
  let anchor: number | undefined;
  let index = 0;
  return {
    async next(signal) {
      signal.throwIfAborted();
      anchor ??= clock.now();
      const deadline = anchor + index * intervalMs;
      index += 1;
      if (clock.now() < deadline) await waitUntil(clock, deadline, signal);
      const lateMs = clock.now() - deadline;
      onFrame?.(lateMs);
      if (lateMs <= maxCatchUpFrames * intervalMs) return;
      anchor += lateMs;
      onReanchor?.(lateMs);
    },
  };
}
