import type { LoadTask } from '../../config/load-tasks.ts';
import { streamCloseMs } from '../../protocol/close-codes.ts';
import type { SessionNeed } from './device-plan.ts';

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
