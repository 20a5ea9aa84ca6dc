import { measureLevel } from '../../src/audio/level.ts';
import { bytesForMs, msForBytes } from '../../src/protocol/audio-format.ts';
import { speechAt } from './device-audio.ts';
import { hastyClock } from './hasten.ts';
import type { MiniBehaviour, MiniStream } from './mini-service.ts';

/** A pause in the audio that ends a turn. */
const turnEndMs = 600;
const quietDbfs = -50;

interface Reply {
  pcm: Buffer;
  /** One message; the last one may be shorter. */
  messageMs?: number;
  /** Between two messages; 0: all at once. */
  everyMs?: number;
  /** Before the first message. */
  afterMs?: number;
  /** Fields around the reply. */
  states?: (state: 'speaking' | 'listening', stream: MiniStream) => object | undefined;
}

/** Answers each turn that ends in quiet audio. It hears no end of a turn in messages that stop. */
export function repliesToTurns(reply: Reply): Partial<MiniBehaviour> {
  const ears = new WeakMap<MiniStream, { hasSpoken: boolean; quietMs: number }>();
  return {
    onAudio(stream, pcm) {
      const ear = ears.get(stream) ?? { hasSpoken: false, quietMs: 0 };
      ears.set(stream, ear);
      const isQuiet = measureLevel(pcm).rmsDbfs < quietDbfs;
      ear.quietMs = isQuiet ? ear.quietMs + msForBytes(pcm.length) : 0;
      ear.hasSpoken ||= !isQuiet;
      if (!ear.hasSpoken || ear.quietMs < turnEndMs) return;
      ear.hasSpoken = false;
      hastyClock.after(reply.afterMs ?? 0, () => speak(stream, reply));
    },
  };
}

function speak(stream: MiniStream, { pcm, messageMs = 20, everyMs = messageMs, states }: Reply): void {
  const { socket, say } = stream;
  const bytes = bytesForMs(messageMs);
  const messages = Array.from({ length: Math.ceil(pcm.length / bytes) }, (_, at) =>
    pcm.subarray(at * bytes, (at + 1) * bytes),
  );
  const tell = (state: 'speaking' | 'listening') => {
    const fields = states?.(state, stream);
    if (fields !== undefined) say(fields);
  };
  const next = (at: number): void => {
    const message = messages[at];
    if (socket.readyState !== socket.OPEN) return;
    if (message === undefined) {
      tell('listening');
      return;
    }
    socket.send(message);
    if (everyMs === 0) next(at + 1);
    else hastyClock.after(everyMs, () => next(at + 1));
  };
  tell('speaking');
  next(0);
}

/** Speech of this length, as a side sends it that has recorded it at this rate. */
export const spoken = (ms: number, rate = 16_000): Buffer =>
  speechAt(rate).subarray(0, 2 * Math.floor((rate * ms) / 1000));
