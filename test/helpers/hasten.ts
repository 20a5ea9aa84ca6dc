import { setTimeout as sleep } from 'node:timers/promises';
import { createManualClock, type ManualClock } from './manual-clock.ts';

/** A frame of 20 ms at four times real time. */
const stepMs = 5;
/** What was written to a socket of this process is read within so many turns of the event loop. */
const turnsPerStep = 4;
/** Now and then the machine is given real time, for what it does beside the event loop. */
const breathEveryMs = 50;

/** Time that the tests of a file and their services share. It starts now, and only passes while something is hastened. */
export const hastyClock: ManualClock = createManualClock(Date.now());

/** How much is under way on each clock: all of it shares the time that passes. */
const works = new WeakMap<ManualClock, number>();

/** Moves the clock whenever nothing happens in this process, until `work` is done. */
export async function hasten<Result>(clock: ManualClock, work: Promise<Result>): Promise<Result> {
  const others = works.get(clock) ?? 0;
  works.set(clock, others + 1);
  if (others === 0) void move(clock);
  try {
    return await work;
  } finally {
    works.set(clock, (works.get(clock) ?? 1) - 1);
  }
}

async function move(clock: ManualClock): Promise<void> {
  for (let passedMs = 0; works.get(clock) !== 0; passedMs += stepMs) {
    for (let turn = 0; turn < turnsPerStep || isBusy(); turn += 1) await new Promise(setImmediate);
    if (passedMs % breathEveryMs === 0) await sleep(1);
    clock.advance(stepMs);
  }
}

/** Requests to the system that are under way: while there are any, time stands still. */
function isBusy(): boolean {
  return process
    .getActiveResourcesInfo()
    .some((name) => /^FSReq|GetAddrInfo|Connect|WriteWrap|Shutdown/.test(name));
}
