import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { VoiceMatchers } from './audio/matchers.ts';
import {
  type Emulator,
  type EmulatorOptions,
  setUpEmulator as setUpEmulatorWith,
  voiceMatchers,
} from './testing.ts';

export type { Emulator, EmulatorOptions, VoiceMatchers };

/** For tests that import `expect` from `@jest/globals`. */
declare module 'expect' {
  interface Matchers<R> extends VoiceMatchers {}
}

/** For tests with the global `expect` of `@types/jest`. */
declare global {
  namespace jest {
    interface Matchers<R> extends VoiceMatchers {}
  }
}

expect.extend(voiceMatchers);

/**
 * Runs an emulator for the tests of a file, or of the `describe` that it is called in, and resets it after each: see
 * `voicectl/testing`.
 */
export function setUpEmulator(options: EmulatorOptions = {}): Emulator {
  return setUpEmulatorWith(options, { beforeAll, beforeEach, afterEach, afterAll });
}
