import { createSpeechGate } from '../../audio/speech-gate.ts';
import { bytesForMs, bytesPerSample, msForBytes } from '../../protocol/audio-format.ts';
import type { Direction } from '../../recording/format.ts';
import { createTrack, slackMs } from '../../recording/track.ts';
import { type HeardVoice, peakMs } from '../messages.ts';

/** Longest trace: an hour and a half. Later audio is not drawn. */
const maxPeaks = (90 * 60_000) / peakMs;
const bucketBytes = bytesForMs(peakMs);
const silence = Buffer.alloc(bytesForMs(1_000));

/** One voice of a stream on its time axis, placed as a recording places it: its peaks, and when it speaks. */
export interface VoiceTrace {
  /** Takes a message at `t`. Returns the silence before it, if a listener hears one. */
  hear(t: number, pcm: Buffer): { startMs: number; endMs: number } | undefined;
  /** What is new since the last call, up to `now`; with `all` from the beginning. Undefined if nothing is. */
  take(now: number, all?: boolean): HeardVoice | undefined;
  /** Speech that lasts has ended. */
  end(): void;
  /** Whether it speaks, or has just paused. */
  readonly speaking: boolean;
}

type Speech = HeardVoice['speech'][number];

export function createVoiceTrace(voice: Direction): VoiceTrace {
  const track = createTrack(slackMs[voice]);
  const gate = createSpeechGate();
  let peaks = new Uint8Array(3_000);
  let count = 0;
  let gatedBytes = 0;
  let taken = 0;
  const speech: Speech[] = [];
  let firstNews = 0;

  const note = (events: ReturnType<typeof gate.push>) => {
    for (const event of events) {
      if (event.type === 'speech-start') speech.push({ startMs: event.atMs, endMs: null });
      else {
        const at = speech.length - 1;
        const last = speech[at];
        if (last !== undefined) speech[at] = { ...last, endMs: event.atMs };
        firstNews = Math.min(firstNews, Math.max(0, at));
      }
    }
  };
  const gateTo = (bytes: number) => {
    while (gatedBytes < bytes) {
      const part = silence.subarray(0, Math.min(silence.length, bytes - gatedBytes));
      note(gate.push(part));
      gatedBytes += part.length;
    }
  };
  const raise = (at: number, pcm: Buffer) => {
    const last = Math.min(maxPeaks, Math.ceil((at + pcm.length) / bucketBytes));
    if (last > peaks.length) {
      const larger = new Uint8Array(Math.max(last, peaks.length * 2));
      larger.set(peaks);
      peaks = larger;
    }
    // Some times faster than to ask the buffer for each sample.
    const samples = new DataView(pcm.buffer, pcm.byteOffset, pcm.length);
    for (let offset = 0; offset + 1 < pcm.length; ) {
      const bucket = Math.floor((at + offset) / bucketBytes);
      if (bucket >= maxPeaks) return;
      const end = Math.min(pcm.length - 1, (bucket + 1) * bucketBytes - at);
      let peak = 0;
      for (; offset < end; offset += bytesPerSample) {
        const size = Math.abs(samples.getInt16(offset, true));
        if (size > peak) peak = size;
      }
      peaks[bucket] = Math.max(peaks[bucket] ?? 0, Math.ceil((peak / 0x8000) * 255));
      taken = Math.min(taken, bucket);
    }
    count = Math.max(count, last);
  };

  return {
    hear(t, pcm) {
      const isFirst = track.endBytes === 0;
      const { at, silenceBytes } = track.place(t, pcm.length);
      gateTo(at);
      note(gate.push(pcm));
      gatedBytes += pcm.length;
      raise(at, pcm);
      const silenceMs = msForBytes(silenceBytes);
      return isFirst || silenceMs === 0
        ? undefined
        : { startMs: msForBytes(at) - silenceMs, endMs: msForBytes(at) };
    },
    take(now, all = false) {
      // Nothing that comes now is placed earlier.
      if (now - msForBytes(track.endBytes) > slackMs[voice]) {
        const bytes = bytesForMs(now);
        gateTo(bytes - (bytes % bytesPerSample));
      }
      const from = all ? 0 : taken;
      const news = all ? speech : speech.slice(firstNews);
      if (from === count && news.length === 0) return undefined;
      const told = { voice, from, peaks: Buffer.from(peaks.subarray(from, count)).toString('base64') };
      if (!all) {
        taken = count;
        firstNews = speech.length;
      }
      return { ...told, speech: [...news] };
    },
    end: () => note(gate.end()),
    get speaking() {
      return gate.speaking;
    },
  };
}
