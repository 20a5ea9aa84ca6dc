import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { nameSecondTries } from './test/helpers/second-tries.ts';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

const { SECOND_TRIES: secondTries } = process.env;

const all = 'test/**/*.test.ts';
/** They replace modules, or count what their process has open: each file has a process of its own. */
const alone = [
  'test/jest.test.ts',
  'test/commands/{serve,stream}/screen.test.ts',
  'test/devices/process/device-process.test.ts',
  'test/kernel/clock.test.ts',
  'test/session/session-live.test.ts',
  'test/wire/client/voice-stream.test.ts',
];
/** They run programs or many services, and take long: they begin before the others. */
const programs = [
  'test/{bench,chaos,cli,foreign}/**/*.test.ts',
  'test/{examples,examples-load,package}.test.ts',
  'test/contract/{binary,cluster,foreign}.test.ts',
  'test/ui/terminal*.test.ts',
  'test/page/*-page.test.ts',
  'test/conformance/{,drill/}mutants.test.ts',
  'test/conformance/learn/round-trip.test.ts',
];

export default defineConfig({
  define: { __VERSION__: JSON.stringify(version) },
  oxc: { jsx: { development: false } },
  test: {
    projects: [
      // In the order of their names. A new process and what it loads take longer than most files: the others share some.
      { extends: true, test: { name: 'own process', include: alone } },
      { extends: true, test: { name: 'programs', include: programs, isolate: false } },
      {
        extends: true,
        test: {
          name: 'shared process',
          include: [all],
          exclude: [...alone, ...programs],
          isolate: false,
          // The React that the program has: the one for developers takes longer.
          env: { NODE_ENV: 'production' },
        },
      },
    ],
    globalSetup: ['test/helpers/own-temporary-folder.ts', 'test/helpers/build-once.ts'],
    // Tests wait on sockets, children and audio in real time more than they compute; on two cores vitest would use one.
    maxWorkers: 4,
    // The built program is loaded as it is.
    server: { deps: { external: [/\/dist\//] } },
    // Only .ci/run asks for second tries: a machine that others keep busy may stall for seconds. It tells what failed, and
    // no more: among 7,000 lines nobody finds it.
    retry: Number(secondTries ?? 0),
    reporters: [secondTries === undefined ? 'default' : ['minimal', { silent: false }], nameSecondTries],
    // Most of what is waited for takes a few milliseconds; on a busy machine, seconds.
    expect: { poll: { interval: 10, timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
