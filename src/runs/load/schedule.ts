import type { Arrival } from '../../config/arrival.ts';
import { createRandom } from '../../service/random.ts';

export interface ScheduleOptions {
  sessions: number;
  /** The rate rises to its full value during this time. */
  rampUpMs?: number | undefined;
  /** For `poisson`. */
  seed: number;
}

/**
 * When each session is to arrive, in milliseconds from the start, in ascending order. It depends on nothing else than
 * these options: every process and every machine computes the same schedule (an open model).
 */
export function scheduleArrivals(
  arrival: Arrival,
  { sessions, rampUpMs, seed }: ScheduleOptions,
): Float64Array {
  const at = new Float64Array(sessions);
  if (arrival.kind === 'burst') {
    for (let index = 0; index < sessions; index += 1)
      at[index] = Math.floor(index / arrival.size) * arrival.everyMs;
    return at;
  }
  const rate = rateOf(arrival, sessions, rampUpMs ?? 0);
  const random = arrival.kind === 'poisson' ? createRandom(seed).sequence() : undefined;
  // Exponential steps in the number of expected arrivals are a Poisson process, also while the rate rises.
  let expected = random === undefined ? 0 : -Math.log(1 - random());
  for (let index = 0; index < sessions; index += 1) {
    at[index] = timeOf(expected, rate);
    expected += random === undefined ? 1 : -Math.log(1 - random());
  }
  return at;
}

/** Sessions a millisecond: from `from` to `to` during `riseMs`, then `to`. */
interface Rate {
  from: number;
  to: number;
  riseMs: number;
}

function rateOf(arrival: Exclude<Arrival, { kind: 'burst' }>, sessions: number, rampUpMs: number): Rate {
  if (arrival.kind !== 'ramp') return { from: 0, to: arrival.perSecond / 1000, riseMs: rampUpMs };
  const [from, to] = [arrival.from / 1000, arrival.to / 1000];
  // Without a time of its own the ramp takes as long as all sessions do.
  return { from, to, riseMs: rampUpMs > 0 ? rampUpMs : (2 * sessions) / (from + to) };
}

/** When this many arrivals were expected. */
function timeOf(expected: number, { from, to, riseMs }: Rate): number {
  const risen = ((from + to) / 2) * riseMs;
  if (expected >= risen) {
    // A ramp down to 0 ends with its last session.
    return to === 0 ? riseMs : riseMs + (expected - risen) / to;
  }
  const slope = (to - from) / riseMs;
  if (slope === 0) return expected / from;
  return (Math.sqrt(Math.max(0, from * from + 2 * slope * expected)) - from) / slope;
}
