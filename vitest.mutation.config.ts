import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The tests that `npm run mutation` judges a room by: `stryker.config.js` names them. All run in one process. */
export default defineConfig({
  ...base,
  test: {
    testTimeout: 300_000,
    include: (process.env.MUTATION_TESTS ?? '').split('\n'),
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
