import type { Clock, ClockTimer } from '../kernel/clock.ts';

/** At most this many frames a second. */
const maxFramesPerSecond = 15;
/** Drawing takes at most one part in this many of a core, however large the screen. */
const shareOfCore = 10;
/** A screen on which nothing happens is drawn this often, for its clocks. */
const idleMs = 250;

export interface FrameLimiterOptions {
  clock: Clock;
  /** Draws what there is; resolves with the time that took, in milliseconds. */
  draw: () => Promise<number>;
}

/** Decides when to draw: one frame at a time, and never more than the eye and the machine can use. */
export interface FrameLimiter {
  /** There is something new to draw; `urgent`: a person waits for it, whatever drawing costs. */
  request(options?: { urgent: boolean }): void;
  /** Draws no more. */
  close(): void;
}

export function createFrameLimiter({ clock, draw }: FrameLimiterOptions): FrameLimiter {
  let timer: ClockTimer | undefined;
  let isWanted = true;
  let isUrgent = true;
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
    earliest = Math.max(soonest, startedAt + tookMs * shareOfCore);
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
