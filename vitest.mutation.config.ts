import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The tests that `npm run mutation` judges by: beside what is mutated, and all in one process. */
export default defineConfig({
  ...base,
  test: {
    testTimeout: 300_000,
    include: [
      'test/{protocol,rules,kernel,audio}/**/*.test.ts',
      'test/emulator/state/**/*.test.ts',
      'test/session/{metrics,expectations}.test.ts',
      // What reads and shows the protocol: schemas, problems with their places, templates and the control API.
      'test/config/**/*.test.ts',
      'test/emulator/control/**/*.test.ts',
      'test/emulator/{dialect,options}.test.ts',
    ],
    exclude: [
      // They start programs that are not mutated.
      'test/audio/sox.test.ts',
      'test/audio/wav/wav-file.test.ts',
      // The tester runs them in a thread of its own, which these end: by open files, and by the depth of the stack.
      'test/audio/wav/wav-source.test.ts',
      'test/kernel/escape-deep.test.ts',
      '.stryker-tmp/**',
    ],
  },
});
