import * as z from 'zod';
import { checkOptions } from '../files/check-options.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import { percentText } from '../protocol/count-text.ts';
import { secondsText } from '../protocol/time-text.ts';
import { dbfsText, measureLevel } from './level.ts';
import { measureLikeness } from './likeness.ts';
import { loadPcm } from './wav/wav-source.ts';
import { isPcm, type Pcm, pcmBytes } from './whole-pcm.ts';

/** Audio in a test: PCM (16 kHz s16le mono), an object with `pcm`, such as `stream.audio()`, or the name of a WAV file. */
export type Sound = Pcm | { pcm: Pcm } | string;

export interface LikenessOptions {
  /** The likeness that is required, from 0 to 1. Default 0.8. */
  similarity?: number;
}

/** Bounds in dBFS. All are optional. */
export interface LevelBounds {
  minRmsDbfs?: number;
  maxRmsDbfs?: number;
  minPeakDbfs?: number;
  maxPeakDbfs?: number;
}

export interface DurationOptions {
  /** Tolerance in milliseconds. Default 100. */
  withinMs?: number;
}

/** What a matcher returns to `expect` of Jest and Vitest. */
export interface Matched {
  pass: boolean;
  message: () => string;
}

/** Matchers for audio: PCM, the result of `stream.audio()`, or the name of a WAV file. Each returns a promise. */
export interface VoiceMatchers {
  /** Whether this sound occurs in the audio. Level, noise, resampling, and a missing start or end change little. */
  toHaveSaid(sound: Sound, options?: LikenessOptions): Promise<void>;
  toHaveLevel(bounds: LevelBounds): Promise<void>;
  /** Whether it has this duration, ± 100 ms or `withinMs`. */
  toHaveDuration(ms: number, options?: DurationOptions): Promise<void>;
}

const sameFrom = 0.8;
const closeMs = 100;

/** Silence has a level of minus infinity. */
const dbfs = z.custom<number>((value) => typeof value === 'number' && !Number.isNaN(value), 'a number');
const levelSchemas: Record<keyof LevelBounds, z.ZodType> = {
  minRmsDbfs: dbfs,
  maxRmsDbfs: dbfs,
  minPeakDbfs: dbfs,
  maxPeakDbfs: dbfs,
};

/** Matchers for `expect.extend` of Jest and Vitest. Each loads its sounds, so its result is a promise. */
export const voiceMatchers = {
  /** Whether a sound occurs in audio. Level, noise, resampling, and a missing start or end change little. */
  async toHaveSaid(received: unknown, expected: Sound, options: LikenessOptions = {}): Promise<Matched> {
    checkOptions(options, { of: 'toHaveSaid', schemas: { similarity: z.number().min(0).max(1) } });
    const { similarity: wanted = sameFrom } = options;
    const [audio, sound] = await Promise.all([pcmOf(received), pcmOf(expected)]);
    const found = measureLikeness(audio, sound);
    const what = typeof expected === 'string' ? expected : `a sound of ${lengthText(sound)}`;
    const why = `the best match has a similarity of ${percentText(found)}, and ${percentText(wanted)} is required`;
    return matched(
      found >= wanted,
      (not) => `expected the audio (${lengthText(audio)}) ${not}to have said ${what}: ${why}`,
    );
  },

  /** Whether the level of audio is within bounds. */
  async toHaveLevel(received: unknown, bounds: LevelBounds): Promise<Matched> {
    checkOptions(bounds, { of: 'toHaveLevel', schemas: levelSchemas });
    const { rmsDbfs, peakDbfs } = measureLevel(await pcmOf(received));
    const {
      minRmsDbfs = -Infinity,
      maxRmsDbfs = Infinity,
      minPeakDbfs = -Infinity,
      maxPeakDbfs = Infinity,
    } = bounds;
    return matched(
      rmsDbfs >= minRmsDbfs && rmsDbfs <= maxRmsDbfs && peakDbfs >= minPeakDbfs && peakDbfs <= maxPeakDbfs,
      (not) =>
        `expected the audio ${not}to have a level within ${JSON.stringify(bounds)}: it has an RMS of ${dbfsText(rmsDbfs)} and a peak of ${dbfsText(peakDbfs)}`,
    );
  },

  /** Whether audio has this duration, in milliseconds. */
  async toHaveDuration(
    received: unknown,
    expectedMs: number,
    options: DurationOptions = {},
  ): Promise<Matched> {
    const of = 'toHaveDuration';
    checkOptions({ ms: expectedMs }, { of, schemas: { ms: z.number().min(0) }, required: ['ms'] });
    checkOptions(options, { of, schemas: { withinMs: z.number().min(0) } });
    const { withinMs = closeMs } = options;
    const durationMs = msForBytes((await pcmOf(received)).length);
    return matched(
      Math.abs(durationMs - expectedMs) <= withinMs,
      (not) =>
        `expected the audio ${not}to last ${expectedMs} ms ± ${withinMs} ms: it lasts ${Math.round(durationMs)} ms`,
    );
  },
};

function matched(pass: boolean, say: (not: string) => string): Matched {
  return { pass, message: () => say(pass ? 'not ' : '') };
}

async function pcmOf(sound: unknown): Promise<Buffer> {
  if (typeof sound === 'string') return loadPcm(sound);
  const pcm = isPcm(sound) ? sound : (sound as { pcm?: unknown } | null | undefined)?.pcm;
  if (isPcm(pcm)) return pcmBytes(pcm);
  throw new VoicectlError('usage', 'Not audio', {
    hint: 'Pass PCM (16 kHz s16le mono), the result of stream.audio(), or the name of a WAV file.',
  });
}

function lengthText(pcm: Buffer): string {
  return secondsText(msForBytes(pcm.length));
}
