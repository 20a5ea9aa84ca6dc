import { refusal } from '../files/refusal.ts';
import { readServiceMessage } from '../protocol/messages.ts';
import { isServiceText, type WireLine } from './format.ts';
import type { Recording } from './read-recording.ts';

/**
 * The start of a replay: the moment at which the stream was confirmed or, without a confirmation, at which the
 * token was presented. Throws `bad-input` if neither happened.
 */
export function replayOrigin({ wire, folder }: Recording): number {
  const isConfirmation = (line: WireLine) =>
    isServiceText(line) && readServiceMessage(line.text).category === 'connected';
  const origin = wire.find(isConfirmation) ?? wire.find(({ type }) => type === 'token');
  if (origin === undefined) throw refusal(folder, 'it contains no voice stream to replay');
  return origin.t;
}

/** The bytes of a binary message, as sent or received. */
export function pcmOf(
  { audio }: Recording,
  { direction, at, bytes }: Extract<WireLine, { type: 'audio' }>,
): Buffer {
  return audio[direction].subarray(at, at + bytes);
}
