import type { LoadTask } from '../../config/load-tasks.ts';
import type { LoadMetric } from '../../config/threshold.ts';
import { streamCloseMs } from '../../protocol/close-codes.ts';
import {
  connectionsPerDevice,
  rateLimitWindowMs,
  tokenRequestsPerWindow,
} from '../../protocol/rate-limit.ts';

/** The times of a session, in milliseconds. All are known before the start. */
export interface SessionTimes {
  /** A session fails if it is not confirmed within this time of its arrival. */
  giveUpMs: number;
  /** How long a session lasts; a turn that has begun is completed. */
  holdMs: number;
  /** Length of the speech. */
  clipMs: number;
  /** How long to wait for a reply, and how long to listen to one. */
  waitMs: number;
  /** A reply that pauses this long has ended. */
  settleMs: number;
  /** For `storm`: when all streams are cut, from the start. */
  stormAtMs: number;
}

const openingMetrics = ['token', 'connect', 'confirmed'] as const;
const replyMetrics = [...openingMetrics, 'first-audio', 'response', 'jitter', 'gap'] as const;

/** What the sessions of each task measure. */
export const taskMetrics: Readonly<Record<LoadTask, readonly LoadMetric[]>> = {
  talk: [...replyMetrics, 'talk-over'],
  listen: replyMetrics,
  'barge-in': [...replyMetrics, 'stops', 'yield', 'talk-over'],
  // What a service says by itself is not a reply.
  storm: [...openingMetrics, 'back'],
  tokens: ['token'],
};

/** How long a reply goes on before it is interrupted. */
export const bargeInAfterMs = 500;
/** Time for all streams to be open before they are cut. */
const beforeStormMs = 2_000;

/** When a storm cuts the streams: the last session must have been confirmed or given up by then. */
export function stormAt(lastArrivalMs: number, giveUpMs: number): number {
  return lastArrivalMs + giveUpMs + beforeStormMs;
}

/** The longest time for which a session sends audio: from its confirmation until it ends by itself. */
export function longestAudioMs(task: LoadTask, times: SessionTimes): number {
  const { holdMs, clipMs, waitMs, settleMs, giveUpMs, stormAtMs } = times;
  const turnMs = clipMs + 2 * waitMs + settleMs;
  switch (task) {
    case 'talk':
      return holdMs + turnMs;
    case 'barge-in':
      return holdMs + 2 * turnMs;
    case 'listen':
      return holdMs;
    case 'storm':
      return stormAtMs + giveUpMs + holdMs;
    case 'tokens':
      return 0;
  }
}

/** The most that a session needs of its device's limits. */
export function needOf(task: LoadTask, times: SessionTimes): SessionNeed {
  const { giveUpMs } = times;
  const longestMs = giveUpMs + longestAudioMs(task, times) + streamCloseMs;
  const isStorm = task === 'storm';
  return {
    tokens: isStorm ? 2 : 1,
    // The service may notice that a stream was cut only after the next one has opened.
    streams: task === 'tokens' ? 0 : isStorm ? 2 : 1,
    longestMs,
    requestMs: giveUpMs + (isStorm ? times.stormAtMs : 0),
  };
}

/** How much of its device's limits one session needs. */
export interface SessionNeed {
  /** Token requests of a session, which may all fall into one window. */
  tokens: number;
  /** Streams that are open at once: 0 for a session that only requests a token. */
  streams: number;
  /** From its arrival until it is certain that its streams are closed. */
  longestMs: number;
  /** From when a request is due until it is certain that it no longer reaches the service. */
  requestMs: number;
}

export interface DevicePlan {
  /** The number of each session's device, from 0. */
  deviceOf: Uint32Array;
  devices: number;
}

/**
 * Gives each session a device, so that no device can exceed 10 streams or 60 tokens in any window, however slowly the service
 * answers: a place of a device is free again only after the latest possible end of its session. Uses as few devices as that
 * allows. Specification: "Limits".
 */
export function planDevices(arrivals: Float64Array, need: SessionNeed): DevicePlan {
  const { places, busyMs } = placesOf(need);
  const deviceOf = new Uint32Array(arrivals.length);
  const freeAt: number[] = [];
  // All sessions keep their place for the same time, so the place that was taken first is free first.
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

/** How many places a device has, and how long a session keeps its place. */
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
  // How often each place may be taken within a window.
  const perWindow = Math.max(1, Math.floor(tokenRequestsPerWindow / (places * tokens)));
  return { places, busyMs: Math.max(longestMs, windowMs / perWindow) };
}
