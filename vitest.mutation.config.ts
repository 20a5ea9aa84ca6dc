import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The tests that `npm run mutation` judges by: beside what is mutated, and all in one process. */
export default defineConfig({
  ...base,
  test: {
    testTimeout: 60_000,
    include: [
      'test/{protocol,rules,kernel,audio}/**/*.test.ts',
      'test/emulator/state/**/*.test.ts',
      'test/session/metrics.test.ts',
    ],
    // They start programs that are not mutated.
    exclude: [
      // In a thread, and instrumented, it overflows the stack of the machine rather than that of the language.
      'test/kernel/escape-deep.test.ts',
      'test/audio/sox.test.ts',
      'test/audio/wav/wav-file.test.ts',
      '.stryker-tmp/**',
    ],
  },
});
