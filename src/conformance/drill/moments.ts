import { msForBytes } from '../../protocol/audio-format.ts';
import {
  answeredAt,
  confirmedConnections,
  deviceRequests,
  shownTokens,
} from '../../rules/device/device-seen.ts';
import { audioOf, confirmationOf, type SeenStream } from '../../rules/stream-seen.ts';
import { isGranted } from '../../rules/token-seen.ts';
import type { DrillView } from './situation.ts';

/** Moments that a situation waits for, and figures that it judges by. */

/** Streams that were confirmed, in the order of time. */
export function streamsConfirmed({ seen }: DrillView): SeenStream[] {
  return confirmedConnections(seen);
}

export function isOpen({ exchange }: SeenStream): boolean {
  return exchange.end === undefined;
}

/** Audio of the device from one moment to another, milliseconds. */
export function sentMs(stream: SeenStream, from = 0, to = Number.POSITIVE_INFINITY): number {
  const audio = audioOf(stream, 'device').filter(({ at }) => at >= from && at < to);
  return msForBytes(audio.reduce((sum, { bytes }) => sum + bytes, 0));
}

/** This much audio shows that a device is sending; one that is silent for this long waits for its user. */
const streamingMs = 400;
const quietMs = 3_000;

/** Whether the newest stream is open and in use. */
export function isStreaming(view: DrillView): boolean {
  const stream = streamsConfirmed(view).at(-1);
  if (stream === undefined || !isOpen(stream)) return false;
  const at = confirmationOf(stream)?.at ?? view.now;
  return sentMs(stream) >= streamingMs || view.now - at > quietMs;
}

/** Whether a second stream was confirmed, after the trouble with the first one. */
export function isBack(view: DrillView): boolean {
  return streamsConfirmed(view).length > 1;
}

/** After this many presentations of one token, a device has no other. */
const stuckTimes = 3;

/** How often the newest token was presented, if that is so often that the device will never request another. */
export function stuckOn({ seen }: DrillView): number | undefined {
  const shown = shownTokens(seen);
  const last = shown.at(-1)?.message.token.hash;
  const times = shown.filter(({ message }) => message.token.hash === last).length;
  return times >= stuckTimes ? times : undefined;
}

export function isStuck(view: DrillView): boolean {
  return stuckOn(view) !== undefined;
}

/** Whether this much time has passed since the first step. */
export function isPast(view: DrillView, ms: number): boolean {
  const [at] = view.done;
  return at !== undefined && view.now - at >= ms;
}

/** The first answer without a token. */
export function firstRefusal({ seen }: DrillView) {
  return deviceRequests(seen).find((one) => !isGranted(one));
}

export function sinceRefusal(view: DrillView): number | undefined {
  const refused = firstRefusal(view);
  return refused && view.now - answeredAt(refused);
}

/** Whether a token was granted after a refusal. */
export function isGrantedAfterRefusal({ seen }: DrillView): boolean {
  const asked = deviceRequests(seen);
  const refusedAt = asked.findIndex((one) => !isGranted(one));
  return refusedAt >= 0 && asked.slice(refusedAt).some(isGranted);
}

/** Whether the token of a stream that was refused was followed by a stream that was not. */
export function isAcceptedAfterRefusal({ seen }: DrillView): boolean {
  const shown = shownTokens(seen);
  const refusedAt = shown.findIndex(({ refused }) => refused);
  return refusedAt >= 0 && shown.slice(refusedAt).some(({ confirmed: accepted }) => accepted);
}
