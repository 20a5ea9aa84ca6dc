import { atTurnEnd, type ClockTimer, systemClock } from '../../kernel/clock.ts';

/** Redis counts as not reachable if commands wait and none was answered for this long. */
export const answerDeadlineMs = 250;
const checkEveryMs = 10;
/** A late check counts for at most this long: if this process got no CPU time, Redis may have got none either. */
const mostPerCheckMs = 50;

/** Watches that answers keep arriving: then a long queue is no failure. One timer serves all commands. */
export interface DeadlineWatch {
  sent(): void;
  answered(): void;
  /** Allows for one long answer. */
  allow(extraMs: number): void;
  stop(): void;
}

/** Calls `onOverdue` once, when commands wait and none was answered for `answerDeadlineMs`. */
export function watchDeadline(onOverdue: () => void): DeadlineWatch {
  let waiting = 0;
  let isMoving = false;
  let silentMs = 0;
  let lookedAt = 0;
  let patientUntil = 0;
  let timer: ClockTimer | undefined;
  let stopped = false;

  const isOverdue = () => {
    const now = systemClock.now();
    silentMs = isMoving ? 0 : silentMs + Math.min(now - lookedAt, mostPerCheckMs);
    isMoving = false;
    lookedAt = now;
    return waiting > 0 && silentMs >= answerDeadlineMs && now >= patientUntil;
  };
  const arm = () => {
    timer = systemClock.after(checkEveryMs, look, { background: true });
  };
  const look = () => {
    timer = undefined;
    if (stopped || waiting === 0) return;
    if (!isOverdue()) {
      arm();
      return;
    }
    // This process itself may have been stopped: read first the answers that have arrived.
    atTurnEnd(lookAgain, undefined);
  };
  const lookAgain = () => {
    if (stopped) return;
    if (isOverdue()) onOverdue();
    else if (waiting > 0) arm();
  };
  return {
    sent() {
      waiting += 1;
      if (timer !== undefined || stopped) return;
      silentMs = 0;
      isMoving = false;
      lookedAt = systemClock.now();
      arm();
    },
    answered() {
      waiting -= 1;
      isMoving = true;
    },
    allow(extraMs) {
      patientUntil = Math.max(patientUntil, systemClock.now() + extraMs);
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
