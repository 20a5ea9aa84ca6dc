import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { exitCodesOf, type FailureKind } from '../../src/kernel/failure-kind.ts';
import { readFault } from '../../src/protocol/read-fault.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { setUpServices } from '../helpers/services.ts';
import {
  type Ended,
  fixture,
  jsonLines,
  only,
  type Sandbox,
  sandboxFor,
  setUpSandbox,
} from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const services = setUpServices();

interface Promised {
  fault: string;
  flags: string[];
  exitCode: number;
  kind: FailureKind;
}

/** What the documentation promises. */
const table: Promised[] = /<!-- faults: begin -->([\s\S]*)<!-- faults: end -->/
  .exec(readFileSync(new URL('../../docs/SMOKE-TEST.md', import.meta.url), 'utf8'))![1]!
  .trim()
  .split('\n')
  .slice(2)
  .map((row) => {
    const [fault = '', flags = '', exitCode, kind] = row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', ''));
    return {
      fault,
      flags: flags === '' ? [] : flags.split(' '),
      exitCode: Number(exitCode),
      kind: kind as FailureKind,
    };
  });

/** The WebSocket library waits for the answer to a close by the clock of the machine. */
const isRealTime = ({ fault }: Promised) => fault === 'stall:for=8s';
/** The first of each exit code. */
const byProgram = table.filter(
  (row, index) => table.findIndex((other) => other.exitCode === row.exitCode) === index,
);

type Run = (args: readonly string[]) => Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>>;

/** A smoke test by the real program, unless `run` is another way to run it. */
async function smokeTest(
  sandbox: Sandbox,
  baseUrl: string,
  flags: readonly string[],
  run: Run = sandbox.run,
) {
  // A busy machine may pause in the middle of a reply; on a moved clock nothing does.
  const settle = run === sandbox.run ? '2s' : '500ms';
  // An echo is found in what lasts for longer than two seconds, at the pace of speech.
  const [own, ofOwn = ''] = flags.slice(flags.indexOf('--file'));
  const spoken = own === '--file' ? ofOwn : 'barge-in.wav';
  const pace = own === '--file' ? '1' : '4';
  const rest = flags.filter(
    (_, index) => own !== '--file' || ![0, 1].includes(index - flags.indexOf('--file')),
  );
  const common = ['--file', fixture(spoken), '--pace', pace, '--settle', settle];
  const asked = ['--expect-audible', '900ms', '--forbid-event', 'error', '--json'];
  const junit = ['--junit', sandbox.path('junit.xml')];
  const { code, stdout, stderr } = await run([
    ...['stream', ...common, '--base-url', baseUrl],
    ...asked,
    ...junit,
    ...rest,
  ]);
  const lines = jsonLines(stdout);
  const summary = only(lines, 'summary') as {
    ok?: boolean;
    failure?: { kind: string; exitCode: number } | null;
  };
  return { code, stderr, summary, last: lines.at(-1), junit: sandbox.read('junit.xml') };
}

/** Rows about a voice need one. */
const replyOf = (flags: readonly string[]) =>
  flags.some((flag) => flag.startsWith('--expect-clean')) ? `file:${fixture('question.wav')}` : 'tone';

interface Faulty {
  fault?: string | undefined;
  flags?: readonly string[];
  clock?: Clock;
}

async function startFaulty(
  sandbox: Sandbox,
  { fault, flags = [], clock = systemClock }: Faulty = {},
): Promise<string> {
  const faults = fault === undefined ? [] : [readFault(fault)];
  const emulator = await createEmulator({ reply: replyOf(flags), seed: 1, faults, clock });
  sandbox.defer(emulator.close);
  return emulator.baseUrl;
}

/** The same smoke test in this process: program and service are on one clock, which is moved. */
async function smokeTestFast(fault: string | undefined, flags: readonly string[]) {
  const clock = createManualClock(Date.now());
  return smokeTest(sandbox, await startFaulty(sandbox, { fault, flags, clock }), flags, (args) =>
    runInProcess(args, { clock }),
  );
}

/** The verdict is the same wherever one looks for it. */
function expectFailure(
  { code, stderr, summary, last, junit }: Awaited<ReturnType<typeof smokeTest>>,
  { exitCode, kind }: Pick<Promised, 'exitCode' | 'kind'>,
) {
  expect({ code, kind: summary.failure?.kind, stderr }).toEqual({
    code: exitCode,
    kind,
    stderr: expect.stringMatching(/^voicectl: .+\n( {2}.+\n){0,2}$/),
  });
  expect(exitCodesOf(kind)).toContain(exitCode);
  expect(summary).toMatchObject({ ok: false, failure: { exitCode } });
  expect(last).toMatchObject({ type: 'error', kind, exitCode });
  expect(junit).toMatch(new RegExp(`<(failure|error) type="${kind}"`));
}

describe('the smoke test', () => {
  test('passes where nothing is wrong', async () => {
    const { code, summary, junit } = await smokeTestFast(undefined, ['--max-audio', '1200ms']);
    expect({ code, ok: summary.ok, failure: summary.failure }).toEqual({ code: 0, ok: true, failure: null });
    expect(junit).toContain('failures="0" errors="0"');
  });

  test.each(['--expect-clean', '--expect-clean=strict'])(
    'passes with %s where a voice is clean',
    async (flag) => {
      const { code, summary, stderr } = await smokeTestFast(undefined, [flag]);
      expect({ code, ok: summary.ok, stderr }).toEqual({ code: 0, ok: true, stderr: '' });
    },
  );

  test('has at least 25 faults to fail for, of every exit code that a service can cause', () => {
    expect(table.length).toBeGreaterThan(25);
    expect(new Set(table.map(({ exitCode }) => exitCode))).toEqual(new Set([1, 3, 4, 5, 6, 7]));
    expect(new Set(table.map(({ fault, flags }) => `${fault} ${flags}`)).size).toBe(table.length);
  });

  // What is loaded with the first run takes real time.
  beforeAll(async () => {
    await smokeTestFast(undefined, []);
    await smokeTestFast('token-error', []);
  });

  test.each(table.filter((row) => !isRealTime(row)))(
    'of a service with $fault and $flags ends with $exitCode, $kind',
    async (promised) => {
      expectFailure(await smokeTestFast(promised.fault, promised.flags), promised);
    },
  );

  test.concurrent.for(table.filter(isRealTime))(
    'of a service with $fault and $flags ends in real time with $exitCode, $kind',
    async (promised, context) => {
      const sandbox = sandboxFor(context);
      const baseUrl = await startFaulty(sandbox, promised);
      expectFailure(await smokeTest(sandbox, baseUrl, promised.flags, runInProcess), promised);
    },
  );

  test.concurrent.for(byProgram)(
    'by the real program with $fault and $flags ends with $exitCode',
    async (promised, context) => {
      const sandbox = sandboxFor(context);
      const baseUrl = await startFaulty(sandbox, promised);
      expectFailure(await smokeTest(sandbox, baseUrl, promised.flags), promised);
    },
  );

  test.each([
    ['token-slow:delay=500ms'],
    ['upgrade-slow:delay=500ms'],
    ['connected-late:delay=500ms'],
    ['message-malformed'],
    ['message-unknown'],
    ['odd-split'],
  ])('bears %s', async (fault) => {
    const { code, stderr } = await smokeTestFast(fault, []);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe('the smoke test of a service that is not there', () => {
  test('says that nobody answers', async () => {
    const port = await services.unusedPort();
    const result = await smokeTest(sandbox, `http://127.0.0.1:${port}`, ['--retries', '0'], runInProcess);
    expectFailure(result, { exitCode: 4, kind: 'unreachable' });
  });

  test('says that there is no TLS', async () => {
    const baseUrl = (await startFaulty(sandbox)).replace('http', 'https');
    const result = await smokeTest(sandbox, baseUrl, ['--retries', '0'], runInProcess);
    expectFailure(result, { exitCode: 4, kind: 'tls' });
  });

  test('says that it speaks another protocol', async () => {
    const { port } = await services.tcp((socket) => socket.end('220 mail.example ESMTP\r\n'));
    const result = await smokeTest(sandbox, `http://127.0.0.1:${port}`, ['--retries', '0'], runInProcess);
    expectFailure(result, { exitCode: 6, kind: 'protocol' });
  });
});
