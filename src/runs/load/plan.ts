import type { Arrival } from '../../config/arrival.ts';
import type { LoadTask } from '../../config/load-tasks.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { type DevicePlan, planDevices } from './device-plan.ts';
import { scheduleArrivals } from './schedule.ts';
import { longestAudioMs, needOf, type SessionTimes, stormAt } from './tasks.ts';

/** Everything that decides a run: every process and every machine makes the same plan of it. */
export interface LoadOrder {
  sessions: number;
  arrival: Arrival;
  rampUpMs: number | undefined;
  seed: number;
  task: LoadTask;
  times: Omit<SessionTimes, 'stormAtMs'>;
  /** At most this many devices; undefined: as many as are needed. */
  devices: number | undefined;
}

export interface LoadPlan extends DevicePlan {
  /** Milliseconds from the start. */
  arrivals: Float64Array;
  times: SessionTimes;
  cost: LoadCost;
}

/** What a run costs the service, at most. */
export interface LoadCost {
  sessions: number;
  tokens: number;
  devices: number;
  /** Minutes of audio that are sent. */
  audioMinutes: number;
  /** From the first arrival to the last. */
  arrivalsMs: number;
  /** Until the last session has ended. */
  longestMs: number;
}

/** Plans a run. Throws `usage` if it needs more devices than it may use. */
export function planLoad({ sessions, arrival, rampUpMs, seed, task, times, devices }: LoadOrder): LoadPlan {
  const arrivals = scheduleArrivals(arrival, { sessions, rampUpMs, seed });
  const arrivalsMs = arrivals.at(-1) ?? 0;
  const stormAtMs = task === 'storm' ? stormAt(arrivalsMs, times.giveUpMs) : 0;
  const all = { ...times, stormAtMs };
  const need = needOf(task, all);
  const planned = planDevices(arrivals, need);
  if (devices !== undefined && planned.devices > devices) {
    throw new VoicectlError(
      'usage',
      `${sessions} sessions need ${planned.devices} devices, not ${devices}: a device has 10 streams and 60 tokens a minute`,
      { hint: `Use --devices ${planned.devices} or more, fewer sessions, or a lower rate.` },
    );
  }
  const cost = {
    sessions,
    tokens: sessions * need.tokens,
    devices: planned.devices,
    audioMinutes: Math.ceil((sessions * longestAudioMs(task, all)) / 60_000),
    arrivalsMs,
    longestMs: task === 'storm' ? need.longestMs : arrivalsMs + need.longestMs,
  };
  return { ...planned, arrivals, times: all, cost };
}

/** Which part of a plan one generator runs: every `of`-th session, from `part` (0 to `of` − 1) on. */
export interface Share {
  part: number;
  of: number;
}

/** The sessions of a part, by their number in the plan. */
export function sessionsOf({ part, of }: Share, sessions: number): number[] {
  return Array.from(
    { length: Math.max(0, Math.ceil((sessions - part) / of)) },
    (_, index) => part + index * of,
  );
}
