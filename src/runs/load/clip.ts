import { createSpeechGate } from '../../audio/speech-gate.ts';
import { bytesForMs, defaultFrameMs } from '../../protocol/audio-format.ts';
import { clientFrame, opcodes } from '../../wire/client/frames.ts';

/** What every device says, as frames that are created once and sent on all streams. */
export interface Clip {
  frames: readonly Buffer[];
  /** The audio of the frames, one after the other. */
  pcm: Buffer;
  silence: Buffer;
  /** Index of the frame that carries the start of the first speech. */
  speechStart: number;
  /** Index of the frame that carries the end of the last speech. */
  speechEnd: number;
}

export const clipFrameMs = defaultFrameMs;
const frameBytes = bytesForMs(clipFrameMs);
const silentFrame = Buffer.alloc(frameBytes);

/** The length of a clip with this audio. */
export function clipMs(pcm: Buffer): number {
  return countFrames(pcm) * clipFrameMs;
}

function countFrames(pcm: Buffer): number {
  return Math.max(1, Math.ceil(pcm.length / frameBytes));
}

/** `pcm`: 16 kHz s16le mono. If there is no speech in it, all of it counts as speech. */
export function createClip(pcm: Buffer): Clip {
  const count = countFrames(pcm);
  const whole = Buffer.alloc(count * frameBytes);
  pcm.copy(whole);
  const frames = Array.from({ length: count }, (_, index) =>
    clientFrame(opcodes.binary, whole.subarray(index * frameBytes, (index + 1) * frameBytes)),
  );
  return {
    frames,
    pcm: whole,
    silence: clientFrame(opcodes.binary, silentFrame),
    ...findSpeech(whole, count),
  };
}

/** The audio of a frame: silence after the end of the clip. */
export function audioOfFrame({ frames, pcm }: Pick<Clip, 'frames' | 'pcm'>, at: number): Buffer {
  return at < frames.length ? pcm.subarray(at * frameBytes, (at + 1) * frameBytes) : silentFrame;
}

function findSpeech(pcm: Buffer, count: number): Pick<Clip, 'speechStart' | 'speechEnd'> {
  const gate = createSpeechGate();
  const events = [...gate.push(pcm), ...gate.end()];
  const last = events.findLast(({ type }) => type === 'speech-end');
  const inClip = (frame: number) => Math.min(count - 1, Math.max(0, frame));
  return {
    speechStart: inClip(Math.floor((events[0]?.atMs ?? 0) / clipFrameMs)),
    speechEnd: last === undefined ? count - 1 : inClip(Math.ceil(last.atMs / clipFrameMs) - 1),
  };
}
