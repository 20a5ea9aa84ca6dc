import type { Clock, ClockTimer } from '../clock.ts';

/** At most this many frames a second. */
const maxFramesPerSecond = 15;
/** Drawing takes at most one part in this many of a core, however large the screen. */
const shareOfCore = 8;
/** A screen on which nothing happens is drawn this often, for its clocks. */
const idleMs = 250;

export interface FrameLimiterOptions {
  clock: Clock;
  /** Draws what there is; resolves with the time that took, in milliseconds. */
  draw: () => Promise<number>;
}

/** Decides when to draw: one frame at a time, and never more than the eye and the machine can use. */
export interface FrameLimiter {
  /** There is something new to draw. */
  request(): void;
  /** Draws no more. */
  close(): void;
}

export function createFrameLimiter({ clock, draw }: FrameLimiterOptions): FrameLimiter {
  let timer: ClockTimer | undefined;
  let isWanted = true;
  let isDrawing = false;
  let isClosed = false;
  let earliest = clock.now();

  const arm = () => {
    timer?.cancel();
    if (isDrawing || isClosed) return;
    const at = isWanted ? earliest : earliest + idleMs;
    timer = clock.after(at - clock.now(), run, { background: true });
  };
  const run = async () => {
    isDrawing = true;
    isWanted = false;
    const startedAt = clock.now();
    const tookMs = await draw();
    earliest = startedAt + Math.max(1000 / maxFramesPerSecond, tookMs * shareOfCore);
    isDrawing = false;
    arm();
  };
  arm();
  return {
    request() {
      if (isWanted) return;
      isWanted = true;
      arm();
    },
    close() {
      isClosed = true;
      timer?.cancel();
    },
  };
}
