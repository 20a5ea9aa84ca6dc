import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The tests that `npm run mutation` judges a room by: `stryker.config.js` names them. All run in one process. */
export default defineConfig({
  ...base,
  test: {
    testTimeout: 300_000,
    // A new process for each file would cost more than all of its tests.
    isolate: false,
    include: (process.env.MUTATION_TESTS ?? '').split('\n'),
    exclude: [
      // They start programs that are not mutated.
      'test/audio/sox.test.ts',
      'test/audio/wav/wav-file-processes.test.ts',
      // The tester runs it in a thread of its own, which it ends by the depth of the stack.
      'test/kernel/escape-deep.test.ts',
      '.stryker-tmp/**',
    ],
  },
});
