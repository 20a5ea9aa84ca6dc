import { atTurnEnd, type Clock, type ClockTimer } from '../kernel/clock.ts';

/** Calls every member once per period. One timer serves all members: separate timers cost several times more. */
export interface Pulse {
  /** Adds a member; `due` is the clock's time for which the call was planned. Call the result to remove it. */
  add(tick: (due: number) => void): () => void;
  /** Removes all members. */
  close(): void;
  /** Periods skipped because the process was late by more than the catch-up bound. */
  readonly skipped: number;
}

const defaultSlots = 4;
/** A late pulse catches up by at most this many periods, then starts counting from now. */
const maxCatchUpPeriods = 10;

export interface PulseOptions {
  clock: Clock;
  periodMs: number;
  /** The members are spread over this many moments of a period, so that they do not all send in one burst. Default 4. */
  slotsPerPeriod?: number;
}

type Tick = (due: number) => void;

/** The members of one moment, in an array: nothing is allocated and nothing looked up for a call. */
interface Slot {
  /** A member that leaves during the calls of its slot becomes undefined, and is removed after them. */
  ticks: (Tick | undefined)[];
  size: number;
}

export function createPulse({ clock, periodMs, slotsPerPeriod = defaultSlots }: PulseOptions): Pulse {
  const slots = Array.from({ length: slotsPerPeriod }, (): Slot => ({ ticks: [], size: 0 }));
  const slotMs = periodMs / slotsPerPeriod;
  let anchor = 0;
  let next = 0;
  let skipped = 0;
  let running = false;
  let timer: ClockTimer | undefined;

  const deadline = (index: number) => anchor + index * slotMs;
  const slotAt = (index: number) => slots[index % slotsPerPeriod] as Slot;
  const isIdle = () => slots.every((slot) => slot.size === 0);

  /** Sets the timer for the next slot that has a member. */
  const arm = () => {
    let index = next;
    while (slotAt(index).size === 0) index += 1;
    timer?.cancel();
    const leftMs = deadline(index) - clock.now();
    // A timer takes at least a millisecond: a late pulse would become later with each call.
    timer = leftMs < 0 ? inNextTurn(run) : clock.after(leftMs, run);
  };

  const run = () => {
    timer = undefined;
    // Read the time once, so that ticks longer than a period cannot keep the loop busy.
    const now = clock.now();
    const latePeriods = Math.floor((now - deadline(next)) / periodMs);
    if (latePeriods > maxCatchUpPeriods) {
      skipped += latePeriods;
      anchor += latePeriods * periodMs;
    }
    running = true;
    for (; deadline(next) <= now; next += 1) {
      callAll(slotAt(next), deadline(next));
    }
    running = false;
    if (!isIdle()) arm();
  };

  /** The emptiest slot; of several, the next one. */
  const chooseSlot = () => {
    let best = slotAt(next);
    for (let index = next + 1; index < next + slotsPerPeriod; index += 1) {
      if (slotAt(index).size < best.size) best = slotAt(index);
    }
    return best;
  };

  return {
    get skipped() {
      return skipped;
    },
    add(tick) {
      if (isIdle() && !running) {
        anchor = clock.now();
        next = 0;
      }
      const slot = chooseSlot();
      slot.ticks.push(tick);
      slot.size += 1;
      if (!running) arm();
      let isMember = true;
      return () => {
        if (!isMember) return;
        isMember = false;
        leave(slot, tick, running);
        if (isIdle()) timer?.cancel();
      };
    },
    close() {
      timer?.cancel();
      for (const slot of slots) {
        slot.ticks.fill(undefined);
        slot.size = 0;
      }
    },
  };
}

function inNextTurn(call: () => void): ClockTimer {
  let isCancelled = false;
  atTurnEnd(() => {
    if (!isCancelled) call();
  }, undefined);
  return {
    cancel() {
      isCancelled = true;
    },
  };
}

/** A member that joins during a call starts one period later, and one that leaves is not called again. */
function callAll(slot: Slot, due: number): void {
  const { ticks } = slot;
  const { length } = ticks;
  for (let index = 0; index < length; index += 1) ticks[index]?.(due);
  if (slot.size < ticks.length) slot.ticks = slot.ticks.filter((tick) => tick !== undefined);
}

function leave(slot: Slot, tick: Tick, running: boolean): void {
  const index = slot.ticks.indexOf(tick);
  if (index < 0) return;
  slot.size -= 1;
  if (running) slot.ticks[index] = undefined;
  else slot.ticks.splice(index, 1);
}
