import type { Clock } from '../../kernel/clock.ts';

/** Calls back if nothing happens for too long. */
export interface Watchdog {
  /** Something happened: the next thing must happen within this time. */
  expect(ms: number): void;
  stop(): void;
}

export function createWatchdog(clock: Clock, onSilence: () => void): Watchdog {
  let dueAt = Number.POSITIVE_INFINITY;
  let timer: { cancel(): void } | undefined;
  // One timer that is set again if it fires too early, instead of one per frame.
  const arm = () => {
    timer = clock.after(
      dueAt - clock.now(),
      () => {
        timer = undefined;
        if (clock.now() >= dueAt) onSilence();
        else arm();
      },
      { background: true },
    );
  };
  return {
    expect(ms) {
      const before = dueAt;
      dueAt = clock.now() + ms;
      if (dueAt < before) timer?.cancel();
      if (timer === undefined || dueAt < before) arm();
    },
    stop() {
      dueAt = Number.POSITIVE_INFINITY;
      timer?.cancel();
      timer = undefined;
    },
  };
}
