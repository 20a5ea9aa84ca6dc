import { refusal } from '../files/refusal.ts';
import { readServiceMessage } from '../protocol/messages.ts';
import type { WireLine } from './format.ts';
import type { Recording } from './read-recording.ts';

/**
 * The moment from which a replay counts: that at which the stream was confirmed, or where it was not, that at which the
 * token was presented. Throws `bad-input` where it did not come to that.
 */
export function replayOrigin({ wire, folder }: Recording): number {
  const isConfirmation = (line: WireLine) =>
    line.type === 'text' && readServiceMessage(line.text).category === 'connected';
  const origin = wire.find(isConfirmation) ?? wire.find(({ type }) => type === 'token');
  if (origin === undefined) throw refusal(folder, 'it has no voice stream to replay');
  return origin.t;
}

/** The bytes of a binary message, as they went over the wire. */
export function pcmOf(
  { audio }: Recording,
  { direction, at, bytes }: Extract<WireLine, { type: 'audio' }>,
): Buffer {
  return audio[direction].subarray(at, at + bytes);
}
