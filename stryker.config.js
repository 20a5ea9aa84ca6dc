/**
 * The mutation tester, room by room: `ROOM=audio npm run mutation`. Fewer files: `… -- --mutate 'src/audio/wav/*.ts'`.
 * Mutants are judged by the room's own tests, which run in one process and start no program.
 */

/**
 * @typedef {object} Room
 * @property {string[]} mutate files that are changed
 * @property {string[]} tests tests that judge them
 * @property {string[]} [except] kinds of changes that say nothing here
 */

/** @type {Record<string, Room>} */
const rooms = {
  protocol: {
    mutate: [
      'src/protocol/**/*.ts',
      // The texts of published documents: validators judge them.
      '!src/protocol/api-documents.ts',
    ],
    tests: ['test/protocol/**/*.test.ts', 'test/config/dialect-file.test.ts'],
  },
  rules: {
    mutate: ['src/rules/**/*.ts'],
    tests: ['test/rules/**/*.test.ts'],
    // Nearly all of them are texts of findings, which the tests quote word for word.
    except: ['StringLiteral'],
  },
  kernel: {
    mutate: [
      'src/kernel/**/*.ts',
      // What only exists with a real terminal, pipe or process: tests of the binary judge it.
      '!src/kernel/{io,keyboard,output-stream,terminal-device,write-fully}.ts',
    ],
    tests: ['test/kernel/**/*.test.ts', 'test/session/{audio-limits,expectations}.test.ts'],
  },
  audio: { mutate: ['src/audio/**/*.ts'], tests: ['test/audio/**/*.test.ts'] },
  state: { mutate: ['src/service/state/*.ts'], tests: ['test/service/state/**/*.test.ts'] },
  metrics: { mutate: ['src/session/metrics.ts'], tests: ['test/session/{metrics,metrics-truth}.test.ts'] },
};

const name = process.env.ROOM ?? 'all';
const chosen = name === 'all' ? Object.values(rooms) : [rooms[name]].filter((room) => room !== undefined);
if (chosen.length === 0) throw new Error(`ROOM is one of: ${Object.keys(rooms).join(', ')}`);

// vitest.mutation.config.ts reads it in the processes that run the tests.
process.env.MUTATION_TESTS = chosen.flatMap(({ tests }) => tests).join('\n');

export default {
  mutate: chosen.flatMap(({ mutate }) => mutate),
  mutator: { excludedMutations: chosen.flatMap(({ except = [] }) => except) },
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'vitest.mutation.config.ts', related: false },
  ignorePatterns: ['dist', 'reports', 'docs', 'README.md'],
  // Tables that are made once when a file is loaded: each of their mutants would need a process of its own.
  ignoreStatic: true,
  concurrency: 1,
  dryRunTimeoutMinutes: 20,
  timeoutMS: 10_000,
  // A second run judges only what has changed since.
  incremental: true,
  incrementalFile: `reports/mutation/${name}-incremental.json`,
  reporters: ['clear-text', 'json', 'progress-append-only'],
  jsonReporter: { fileName: `reports/mutation/${name}.json` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: true },
  thresholds: { high: 90, low: 85, break: null },
  tsconfigFile: 'none',
  tempDirName: '.stryker-tmp',
  disableTypeChecks: true,
};
