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
  'test/kernel/command-process-windows.test.ts',
  'test/session/session-live.test.ts',
  'test/wire/client/voice-stream.test.ts',
];
/** What is shipped, made as a release makes it and used without the clone: `npm run test:release`, and `.ci/run`. */
const release = ['test/package.test.ts', 'test/release/executable.test.ts'];
/** They judge the source and start nothing: `npm run check:static`, and `.ci/run`. */
const source = ['test/architecture.test.ts', 'test/keyed-objects.test.ts', 'test/sizes.test.ts'];
/** They take longest, mostly because they wait: for sound, foreign programs and terminals. The longest is first. */
const waiting = [
  'chaos/floods',
  'cli/live-audio',
  'foreign/example-devices',
  'page/live-page',
  'chaos/cluster',
  'service/faults/faults-foreign',
  'cli/metrics',
  'skill',
  'protocol-page',
  'examples-load',
  'cli/foreign-service',
  'contract/foreign',
  'ui/terminal',
  'cli/load',
  'cli/mcp',
  'ui/terminal-signals',
  'ui/terminal-keys',
  'cli/ending',
];
/** They take longest, mostly because they compute. */
const computing = [
  'cli/faulty-services',
  'cli/stream',
  'cli/long-secrets',
  'commands/load/load',
  'conformance/mutants',
  'cli/check',
  'contract/emulator',
  'cli/turn-taking',
  'conformance/learn/round-trip',
  'proxy/faults',
  'cli/inspect',
  'cli/learn',
  'cli/comparisons',
  'conformance/drill/mutants',
  'report/report-page',
  'examples',
  'cli/replay',
  'patterns',
];
/** For each file that waits, so many others: together, those that wait would leave the processor idle. */
const besideOneThatWaits = 4;

/** Begins with the long files: begun last, one would run alone at the end. In a fresh clone vitest knows no durations. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const ofList = (list: string[]) =>
      list.flatMap((name) =>
        sorted.filter(({ moduleId }) => relative(import.meta.dirname, moduleId) === `test/${name}.test.ts`),
      );
    const alone = sorted.filter(({ project }) => project.config.isolate);
    const long = ofList(waiting);
    const others = [...new Set([...ofList(computing), ...sorted])].filter(
      (file) => !alone.includes(file) && !long.includes(file),
    );
    const mixed = long.flatMap((file) => [file, ...others.splice(0, besideOneThatWaits)]);
    return [...alone, ...mixed, ...others];
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
    maxWorkers: 6,
    // A worker runs many files, and hardly any code for long: Node 20 spent a seventh of the suite optimizing it. Later
    // versions wait longer by themselves.
    execArgv: process.versions.node.startsWith('20.') ? ['--interrupt-budget=500000'] : [],
    // The built program is loaded as it is.
    server: { deps: { external: [/\/dist\//] } },
    // Only .ci/run asks for second tries: a machine that others keep busy may stall for seconds. It tells what failed, and
    // no more: among 7,000 lines nobody finds it.
    retry: Number(secondTries ?? 0),
    reporters: secondTries === undefined ? ['default'] : [['minimal', { silent: false }], countSecondTries],
    // Most of what is waited for takes a few milliseconds; on a busy machine, seconds.
    expect: { poll: { interval: 10, timeout: 20_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
