import {
  connectionsPerDevice,
  rateLimitWindowMs,
  tokenRequestsPerWindow,
} from '../../protocol/rate-limit.ts';

/** What one session takes of its device. */
export interface SessionNeed {
  /** Token requests of a session; they may all fall into one window. */
  tokens: number;
  /** Streams at once: 0 for a session that only requests a token. */
  streams: number;
  /** From its arrival until it is certain that its streams are closed. */
  longestMs: number;
  /** From the moment when a request is due until it is certain that it does not reach the service any more. */
  requestMs: number;
}

export interface DevicePlan {
  /** Number of the device of each session, from 0. */
  deviceOf: Uint32Array;
  devices: number;
}

/**
 * Gives each session a device, so that no device can exceed 10 streams and 60 tokens in any window, however
 * slowly the service answers: a place of a device is free again only when the latest possible end of its session
 * has passed. Uses as few devices as that allows. Specification: "Limits".
 */
export function planDevices(arrivals: Float64Array, need: SessionNeed): DevicePlan {
  const { places, busyMs } = placesOf(need);
  const deviceOf = new Uint32Array(arrivals.length);
  const freeAt: number[] = [];
  // All sessions keep a place equally long, so the place that was taken first is free first.
  let oldest = 0;
  const takenBy: number[] = [];
  for (const [index, at] of arrivals.entries()) {
    let place = takenBy[oldest];
    if (place === undefined || (freeAt[oldest] ?? 0) > at) place = takenBy.length - oldest;
    else oldest += 1;
    takenBy.push(place);
    freeAt.push(at + busyMs);
    deviceOf[index] = Math.floor(place / places);
  }
  return {
    deviceOf,
    devices: arrivals.length === 0 ? 0 : deviceOf.reduce((most, one) => Math.max(most, one), 0) + 1,
  };
}

/** How many sessions a device has places for, and how long each keeps its place. */
function placesOf({ tokens, streams, longestMs, requestMs }: SessionNeed): {
  places: number;
  busyMs: number;
} {
  const byTokens = Math.floor(tokenRequestsPerWindow / tokens);
  const places = Math.max(
    1,
    streams === 0 ? byTokens : Math.min(byTokens, Math.floor(connectionsPerDevice / streams)),
  );
  const windowMs = rateLimitWindowMs + requestMs;
  // So often may each place be taken within a window.
  const perWindow = Math.max(1, Math.floor(tokenRequestsPerWindow / (places * tokens)));
  return { places, busyMs: Math.max(longestMs, windowMs / perWindow) };
}
