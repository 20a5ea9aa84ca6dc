import { afterAll, afterEach, beforeAll } from 'vitest';
import { type Emulator, type EmulatorOptions, setUpEmulator as setUpEmulatorWith } from './testing.ts';

export type { Emulator, EmulatorOptions };

/**
 * Runs an emulator for the tests of a file, or of the `describe` that it is called in, and resets it after each: see
 * `voicectl/testing`.
 */
export function setUpEmulator(options: EmulatorOptions = {}): Emulator {
  return setUpEmulatorWith(options, { beforeAll, afterEach, afterAll });
}
