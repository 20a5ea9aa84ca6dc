import { type Clock, waitUntil } from '../kernel/clock.ts';

/** Speed of sending: 1 is real time, 2 is twice as fast; `max` is as fast as possible. */
export type Pace = number | 'max';

export interface PacerOptions {
  pace: Pace;
  frameMs: number;
  clock: Clock;
  /** Called with how late each frame is, in milliseconds after its deadline. */
  onFrame?: (lateMs: number) => void;
  /** Called if the pacer was so late that it skipped this much time and restarted from now. */
  onReanchor?: (skippedMs: number) => void;
}

/** Maximum number of frames that a late pacer releases at once. If it is later than that, it restarts from now. */
const maxCatchUpFrames = 10;

/** Releases frames at monotonic deadlines, so that the delay of one frame does not add to later ones. */
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
