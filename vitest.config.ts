import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { countSecondTries } from './test/helpers/second-tries.ts';

const { version, bugs } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

const { SECOND_TRIES: secondTries } = process.env;

/** They replace modules, or count what their process has open: each file has a process of its own. */
const alone = [
  'test/jest.test.ts',
  'test/commands/{serve,stream}/screen.test.ts',
  'test/devices/process/device-process.test.ts',
  'test/kernel/clock.test.ts',
  'test/session/session-live.test.ts',
  'test/wire/client/voice-stream.test.ts',
];
/** What is shipped, made as a release makes it and used without the clone: `npm run test:release`, and `.ci/run`. */
const release = ['test/package.test.ts', 'test/release/executable.test.ts'];
/** They judge the source and start nothing: `npm run check:static`, and `.ci/run`. */
const source = ['test/architecture.test.ts', 'test/keyed-objects.test.ts', 'test/sizes.test.ts'];
/** They take longest. Begun last, one of them would run alone at the end. The longest is first. */
const long = [
  'test/chaos/floods.test.ts',
  'test/cli/live-audio.test.ts',
  'test/cli/ending.test.ts',
  'test/foreign/example-devices.test.ts',
  'test/page/live-page.test.ts',
  'test/cli/faulty-services.test.ts',
  'test/patterns.test.ts',
  'test/ui/terminal-keys.test.ts',
  'test/package.test.ts',
  'test/ui/terminal.test.ts',
  'test/ui/terminal-signals.test.ts',
  'test/examples-load.test.ts',
  'test/cli/stream.test.ts',
  'test/chaos/cluster.test.ts',
  'test/examples.test.ts',
  'test/cli/foreign-service.test.ts',
  'test/service/faults/faults-foreign.test.ts',
  'test/conformance/mutants.test.ts',
  'test/conformance/drill/mutants.test.ts',
  'test/conformance/learn/round-trip.test.ts',
  'test/contract/emulator.test.ts',
  'test/contract/foreign.test.ts',
  'test/proxy/faults.test.ts',
  'test/proxy/judge.test.ts',
];

/** Begins with the long files. In a fresh clone vitest knows no durations. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId, project }: TestSpecification) => {
      if (project.config.isolate) return -1;
      const place = long.indexOf(relative(import.meta.dirname, moduleId));
      return place < 0 ? long.length : place;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  define: {
    __VERSION__: JSON.stringify(version),
    __BUGS__: JSON.stringify(bugs?.url ?? 'the maintainers of your copy'),
  },
  oxc: { jsx: { development: false } },
  test: {
    projects: [
      // A new process and what it loads take longer than most files: the others share some.
      { extends: true, test: { name: 'own process', include: alone } },
      { extends: true, test: { name: 'release', include: release } },
      { extends: true, test: { name: 'source', include: source } },
      {
        extends: true,
        test: {
          name: 'shared process',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...release, ...source],
          isolate: false,
          // The React that the program has: the one for developers takes longer.
          env: { NODE_ENV: 'production' },
        },
      },
    ],
    sequence: { sequencer: LongFirst },
    globalSetup: ['test/helpers/own-temporary-folder.ts', 'test/helpers/build-once.ts'],
    // Tests wait on sockets, children and audio in real time more than they compute; on two cores vitest would use one.
    maxWorkers: 5,
    // The built program is loaded as it is.
    server: { deps: { external: [/\/dist\//] } },
    // Only .ci/run asks for second tries: a machine that others keep busy may stall for seconds. It tells what failed, and
    // no more: among 7,000 lines nobody finds it.
    retry: Number(secondTries ?? 0),
    reporters: secondTries === undefined ? ['default'] : [['minimal', { silent: false }], countSecondTries],
    // Most of what is waited for takes a few milliseconds; on a busy machine, seconds.
    expect: { poll: { interval: 10, timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
