/** A pending call of a clock. */
export interface ClockTimer {
  cancel(): void;
}

/** Time as a parameter: code that waits, paces or expires takes a clock. */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary origin. */
  now(): number;
  /** Wall-clock milliseconds since the epoch. */
  wall(): number;
  /** Calls once, `delayMs` from now. A `background` timer does not keep the process alive. */
  after(delayMs: number, call: () => void, options?: { background?: boolean }): ClockTimer;
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(delayMs, call, options) {
    const timer = setTimeout(call, Math.max(0, delayMs));
    if (options?.background) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Calls every `everyMs` until it is cancelled. It does not keep the process alive. */
export function repeat(clock: Clock, everyMs: number, call: () => void): ClockTimer {
  let isCancelled = false;
  const arm = () => clock.after(everyMs, beat, { background: true });
  const beat = () => {
    call();
    if (!isCancelled) timer = arm();
  };
  let timer = arm();
  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
    },
  };
}

/**
 * Calls once, with `subject`, after the current callback: before the event loop goes on to the next socket or
 * timer. This takes no time, so no clock moves it.
 */
export function atTickEnd<Subject>(call: (subject: Subject) => void, subject: Subject): void {
  process.nextTick(call, subject);
}

/** Calls once, with `subject`, after all input received so far is handled: at the end of this turn of the event loop. */
export function atTurnEnd<Subject>(call: (subject: Subject) => void, subject: Subject): void {
  setImmediate(call, subject);
}

/** A clock that can be moved forward while it runs. */
export interface MovableClock extends Clock {
  /** Moves time forward by `ms`, and makes the calls that became due, in order of their due time. */
  advance(ms: number): void;
}

interface Pending {
  due: number;
  call: () => void;
  background: boolean;
  timer: ClockTimer | undefined;
}

/** A clock that follows `base` and can be moved ahead of it. */
export function createMovableClock(base: Clock): MovableClock {
  let offset = 0;
  const pending = new Set<Pending>();
  /** Nothing is due before this. */
  let quietUntil = Number.POSITIVE_INFINITY;

  const fire = (entry: Pending) => {
    entry.timer?.cancel();
    if (pending.delete(entry)) entry.call();
  };
  const arm = (entry: Pending) => {
    entry.timer = base.after(entry.due - base.now() - offset, () => fire(entry), {
      background: entry.background,
    });
  };
  const nextDue = (until: number) => {
    if (until < quietUntil) return undefined;
    let next: Pending | undefined;
    for (const entry of pending) {
      if (next === undefined || entry.due < next.due) next = entry;
    }
    quietUntil = next?.due ?? Number.POSITIVE_INFINITY;
    return quietUntil <= until ? next : undefined;
  };

  return {
    now: () => base.now() + offset,
    wall: () => base.wall() + offset,
    after(delayMs, call, options) {
      const entry: Pending = {
        due: base.now() + offset + delayMs,
        call,
        background: options?.background ?? false,
        timer: undefined,
      };
      pending.add(entry);
      quietUntil = Math.min(quietUntil, entry.due);
      arm(entry);
      return {
        cancel() {
          entry.timer?.cancel();
          pending.delete(entry);
        },
      };
    },
    advance(ms) {
      const target = base.now() + offset + ms;
      for (let entry = nextDue(target); entry; entry = nextDue(target)) {
        offset += Math.max(0, entry.due - base.now() - offset);
        fire(entry);
      }
      offset += Math.max(0, target - base.now() - offset);
      for (const entry of pending) {
        entry.timer?.cancel();
        arm(entry);
      }
    },
  };
}

/** Resolves at the monotonic time `deadline`; rejects with the signal's reason if it aborts first. */
export function waitUntil(clock: Clock, deadline: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(deadline - clock.now(), () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
