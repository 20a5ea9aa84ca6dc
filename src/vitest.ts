import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { DurationOptions, LevelBounds, LikenessOptions, Sound } from './audio/matchers.ts';
import {
  type Emulator,
  type EmulatorOptions,
  setUpEmulator as setUpEmulatorWith,
  voiceMatchers,
} from './testing.ts';

export type { Emulator, EmulatorOptions };

/** Matchers for audio: PCM, the result of `stream.audio()`, or a WAV file by its name. Each returns a promise. */
export interface VoiceMatchers {
  /** Whether this sound occurs in the audio. Level, noise, resampling, and a missing start or end change little. */
  toHaveSaid(sound: Sound, options?: LikenessOptions): Promise<void>;
  toHaveLevel(bounds: LevelBounds): Promise<void>;
  /** Whether it is so long, ± 100 ms if `withinMs` says nothing else. */
  toHaveDuration(ms: number, options?: DurationOptions): Promise<void>;
}

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: all declarations of an interface have the same parameters
  interface Matchers<T = any> extends VoiceMatchers {}
}

expect.extend(voiceMatchers);

/**
 * Runs an emulator for the tests of a file, or of the `describe` that it is called in, and resets it after each: see
 * `voicectl/testing`.
 */
export function setUpEmulator(options: EmulatorOptions = {}): Emulator {
  return setUpEmulatorWith(options, { beforeAll, afterEach, afterAll });
}
