import type { Arrival } from '../../config/arrival.ts';
import type { LoadTask } from '../../config/load-tasks.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { createRandom } from '../../service/random.ts';
import type { Cleanness } from '../../session/expectations.ts';
import { type DevicePlan, longestAudioMs, needOf, planDevices, type SessionTimes, stormAt } from './tasks.ts';

/** Everything that determines a run: every process and every machine makes the same plan from it. */
export interface LoadOrder {
  sessions: number;
  arrival: Arrival;
  /** The rate rises to its full value during this time. */
  rampUpMs: number | undefined;
  /** For `poisson`. */
  seed: number;
  task: LoadTask;
  times: Omit<SessionTimes, 'stormAtMs'>;
  /** If set, a session whose AI audio is not clean fails. */
  clean: Cleanness | undefined;
  /** Maximum number of devices to use; undefined: as many as needed. */
  devices: number | undefined;
}

export interface LoadPlan extends DevicePlan {
  /** Milliseconds from the start. */
  arrivals: Float64Array;
  times: SessionTimes;
  cost: LoadCost;
}

/** The most that a run costs the service. */
export interface LoadCost {
  sessions: number;
  tokens: number;
  devices: number;
  audioMinutes: number;
  /** From the first arrival to the last. */
  arrivalsMs: number;
  /** Until the last session has ended. */
  longestMs: number;
}

/** Plans a run. Throws `usage` if it would need more devices than it may use, or if some of its sessions would never arrive. */
export function planLoad({ sessions, arrival, rampUpMs, seed, task, times, devices }: LoadOrder): LoadPlan {
  const arrivals = scheduleArrivals(arrival, { sessions, rampUpMs, seed });
  const arrivalsMs = arrivals.at(-1) ?? 0;
  const stormAtMs = task === 'storm' ? stormAt(arrivalsMs, times.giveUpMs) : 0;
  const all = { ...times, stormAtMs };
  const need = needOf(task, all);
  const planned = planDevices(arrivals, need);
  if (devices !== undefined && planned.devices > devices) {
    const limits = 'a device may have at most 10 streams, and 60 tokens per minute';
    throw new VoicectlError(
      'usage',
      `${sessions} sessions need ${planned.devices} devices, not ${devices}: ${limits}`,
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

/** The part of a plan that one generator runs: every `of`-th session, beginning with `part` (0 to `of` − 1). */
export interface Share {
  part: number;
  of: number;
}

/** The numbers of the sessions of a part. */
export function sessionsOf({ part, of }: Share, sessions: number): number[] {
  return Array.from(
    { length: Math.max(0, Math.ceil((sessions - part) / of)) },
    (_, index) => part + index * of,
  );
}

/**
 * When each session arrives, in milliseconds from the start, in ascending order (an open model). It depends only on these
 * options: every process and every machine computes the same schedule. Throws `usage` if the rate falls to 0 before all
 * have arrived.
 */
export function scheduleArrivals(
  arrival: Arrival,
  { sessions, rampUpMs, seed }: Pick<LoadOrder, 'sessions' | 'rampUpMs' | 'seed'>,
): Float64Array {
  const at = new Float64Array(sessions);
  if (arrival.kind === 'burst') {
    for (let index = 0; index < sessions; index += 1)
      at[index] = Math.floor(index / arrival.size) * arrival.everyMs;
    return at;
  }
  const rate = rateOf(arrival, sessions, rampUpMs ?? 0);
  requireRoom(rate, sessions);
  const random = arrival.kind === 'poisson' ? createRandom(seed).sequence() : undefined;
  // Exponential steps in the number of expected arrivals make a Poisson process, even while the rate rises.
  let expected = random === undefined ? 0 : -Math.log(1 - random());
  for (let index = 0; index < sessions; index += 1) {
    at[index] = timeOf(expected, rate);
    expected += random === undefined ? 1 : -Math.log(1 - random());
  }
  return at;
}

/** Sessions per millisecond: from `from` to `to` during `riseMs`, then `to`. */
interface Rate {
  from: number;
  to: number;
  riseMs: number;
}

function rateOf(arrival: Exclude<Arrival, { kind: 'burst' }>, sessions: number, rampUpMs: number): Rate {
  if (arrival.kind !== 'ramp') return { from: 0, to: arrival.perSecond / 1000, riseMs: rampUpMs };
  const [from, to] = [arrival.from / 1000, arrival.to / 1000];
  // By default the ramp takes as long as all sessions do.
  return { from, to, riseMs: rampUpMs > 0 ? rampUpMs : (2 * sessions) / (from + to) };
}

/** How many arrivals are expected during the ramp. */
function arrivalsOfRamp({ from, to, riseMs }: Rate): number {
  return ((from + to) / 2) * riseMs;
}

/** The most sessions that can arrive. */
function mostArrivals(rate: Rate): number {
  return rate.to > 0 ? Infinity : Math.ceil(arrivalsOfRamp(rate));
}

/** Whether all sessions arrive: a rate may fall to 0 before. */
export function allArrive(
  arrival: Arrival,
  { sessions, rampUpMs }: Pick<LoadOrder, 'sessions' | 'rampUpMs'>,
): boolean {
  return arrival.kind === 'burst' || sessions <= mostArrivals(rateOf(arrival, sessions, rampUpMs ?? 0));
}

function requireRoom(rate: Rate, sessions: number): void {
  const most = mostArrivals(rate);
  if (sessions <= most) return;
  throw new VoicectlError(
    'usage',
    `Only ${most} of ${sessions} sessions arrive: the rate falls to 0 within ${rate.riseMs / 1000} s`,
    {
      hint: `Use --sessions ${most} or fewer, a longer --ramp-up, or none, so that the ramp lasts for all sessions.`,
    },
  );
}

/** When this many arrivals are expected. */
function timeOf(expected: number, rate: Rate): number {
  const { from, to, riseMs } = rate;
  const risen = arrivalsOfRamp(rate);
  // A ramp down to 0 ends with its last session.
  if (expected >= risen) return to === 0 ? riseMs : riseMs + (expected - risen) / to;
  const slope = (to - from) / riseMs;
  if (slope === 0) return expected / from;
  return (Math.sqrt(Math.max(0, from * from + 2 * slope * expected)) - from) / slope;
}
