import { refusal } from '../files/refusal.ts';
import { bytesForMs, msForBytes } from '../protocol/audio-format.ts';
import { createMessageReader, isConfirmingText, isInterruption } from '../protocol/messages.ts';
import { isServiceText, type WireAudio, type WireLine } from './format.ts';
import type { Recording } from './read-recording.ts';

/**
 * The start of a replay: when the stream was confirmed or, without a confirmation, when the token was presented. Throws
 * `bad-input` if neither happened.
 */
export function replayOrigin({ wire, folder }: Recording): number {
  const origin =
    wire.find((line) => isServiceText(line) && isConfirmingText(line.text)) ??
    wire.find(({ type }) => type === 'token');
  if (origin === undefined) throw refusal(folder, 'it contains no voice stream to replay');
  return origin.t;
}

/** The bytes of a binary message, as they were sent or received. */
export function pcmOf({ audio }: Recording, { direction, at, bytes }: WireAudio): Buffer {
  return audio[direction].subarray(at, at + bytes);
}

/** Receives both voices of a recording, message by message. */
export interface VoicesHeard {
  sent(pcm: Buffer, t: number): void;
  /** `bytes` arrived; if the recording broke off, `pcm` may have fewer. */
  received(pcm: Buffer, t: number, bytes: number): void;
  /** The service cancels audio that was not heard yet. */
  interrupted(t: number): void;
}

/** Passes both voices on at their recorded times; those of a WAV as if they had come in real time. */
export function replayVoices(recording: Recording, heard: VoicesHeard): void {
  const { isCall, wire, audio } = recording;
  const readText = createMessageReader();
  for (const line of isCall ? linesOfCall(audio) : wire) {
    if (isServiceText(line) && isInterruption(readText(line.text))) heard.interrupted(line.t);
    if (line.type !== 'audio') continue;
    const pcm = pcmOf(recording, line);
    if (line.direction === 'out') heard.sent(pcm, line.t);
    else heard.received(pcm, line.t, line.bytes);
  }
}

const frameBytes = bytesForMs(20);

function* linesOfCall(audio: Recording['audio']): Generator<WireLine> {
  for (let at = 0; at < Math.max(audio.in.length, audio.out.length); at += frameBytes)
    for (const direction of ['out', 'in'] as const) {
      const bytes = Math.min(frameBytes, audio[direction].length - at);
      if (bytes > 0) yield { t: msForBytes(at), type: 'audio', direction, at, bytes };
    }
}
