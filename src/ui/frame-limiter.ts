import type { Clock, ClockTimer } from '../kernel/clock.ts';

/** Maximum frames per second. */
const maxFramesPerSecond = 15;
/** Drawing uses at most one nth of a core, whatever the size of the screen. */
const shareOfCore = 10;
/** The screen is never older than this: on a busy machine a frame takes long without much work. */
const oldestMs = 1_000;
/** An idle screen is drawn this often, for its clocks. */
const idleMs = 250;

export interface FrameLimiterOptions {
  clock: Clock;
  /** Draws the current state; resolves with the duration in milliseconds. */
  draw: () => Promise<number>;
}

/** Decides when to draw: one frame at a time, with a limited rate and load. */
export interface FrameLimiter {
  /** Something has changed; `urgent`: a person is waiting for it, so the load does not matter. */
  request(options?: { urgent: boolean }): void;
  /** Stops drawing. */
  close(): void;
}

export function createFrameLimiter({ clock, draw }: FrameLimiterOptions): FrameLimiter {
  let timer: ClockTimer | undefined;
  let isWanted = true;
  let isUrgent = true;
  let isFirst = true;
  let isDrawing = false;
  let isClosed = false;
  let earliest = clock.now();
  let soonest = earliest;

  const arm = () => {
    timer?.cancel();
    if (isDrawing || isClosed) return;
    const at = isUrgent ? soonest : isWanted ? earliest : earliest + idleMs;
    timer = clock.after(at - clock.now(), run, { background: true });
  };
  const run = async () => {
    isDrawing = true;
    isWanted = false;
    isUrgent = false;
    const startedAt = clock.now();
    const tookMs = await draw();
    soonest = startedAt + 1000 / maxFramesPerSecond;
    // The first frame takes many times as long as the next ones, because it loads the code that draws.
    earliest = isFirst ? soonest : Math.max(soonest, startedAt + Math.min(oldestMs, tookMs * shareOfCore));
    isFirst = false;
    isDrawing = false;
    arm();
  };
  arm();
  return {
    request({ urgent } = { urgent: false }) {
      if (isWanted && (isUrgent || !urgent)) return;
      isWanted = true;
      isUrgent ||= urgent;
      arm();
    },
    close() {
      isClosed = true;
      timer?.cancel();
    },
  };
}
