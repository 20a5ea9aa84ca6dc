import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The tests that `npm run mutation` judges by: beside what is mutated, and all in one process. */
export default defineConfig({
  ...base,
  test: {
    include: [
      'test/{protocol,rules,kernel,audio}/**/*.test.ts',
      'test/emulator/state/**/*.test.ts',
      'test/session/metrics.test.ts',
    ],
    // They start programs, which cannot be mutated from here.
    exclude: ['test/audio/sox.test.ts', 'test/audio/wav/wav-file.test.ts', '.stryker-tmp/**'],
  },
});
