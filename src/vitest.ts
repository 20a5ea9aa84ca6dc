import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { VoiceMatchers } from './audio/matchers.ts';
import {
  type Emulator,
  type EmulatorOptions,
  setUpEmulator as setUpEmulatorWith,
  voiceMatchers,
} from './testing.ts';

export type { Emulator, EmulatorOptions, VoiceMatchers };

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
  return setUpEmulatorWith(options, { beforeAll, beforeEach, afterEach, afterAll });
}
