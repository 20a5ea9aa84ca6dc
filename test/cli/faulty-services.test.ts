import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { exitCodesOf, type FailureKind } from '../../src/kernel/failure-kind.ts';
import { readFault } from '../../src/protocol/read-fault.ts';
import { hastyClock } from '../helpers/hasten.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { setUpServices } from '../helpers/services.ts';
import { type Ended, fixture, jsonLines, only, sandboxFor } from '../helpers/voicectl.ts';

// A step of the moved clock takes as long for many tests as for one.
vi.setConfig({ maxConcurrency: 12 });

const services = setUpServices();
const folder = mkdtempSync(join(tmpdir(), 'voicectl-faulty-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

/**
 * The WebSocket library waits for the answer to a close by the clock of the machine, and a moved clock waits in vain for a
 * service that does not read.
 */
const isRealTime = ({ fault }: Promised) => ['stall:for=60s', 'deaf'].includes(fault);
/**
 * `npm run hearing` runs the row of each format; the suite runs those of a sample, because
 * `test/audio/verdict/hearing.test.ts` judges all of them.
 */
const isInSample = ({ fault }: Promised) =>
  process.env.HEARING === '1' ||
  !fault.startsWith('format:') ||
  ['stereo', 'alaw', 'base64'].some((format) => fault === `format:as=${format}`);
/** The program ends in one of three ways: by a verdict on a session, an error, or a time limit. */
const byProgram = table.filter(({ fault }) => ['message-error', 'token-error', 'token-hang'].includes(fault));

type Run = (args: readonly string[]) => Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>>;

const onMovedClock: Run = (args) => runInProcess(args, { clock: hastyClock });
let reports = 0;

async function smokeTest(run: Run, baseUrl: string, flags: readonly string[]) {
  // An echo is only found in audio longer than two seconds, at the pace of speech, beside the reply to it.
  const [own, ofOwn = ''] = flags.slice(flags.indexOf('--file'));
  const spoken = own === '--file' ? ofOwn : 'barge-in.wav';
  // On a moved clock every pace takes the same time.
  const pace = run === onMovedClock || own === '--file' ? '1' : '4';
  // A busy machine may pause in the middle of a reply, which must be heard here to its end.
  const isHeardOut = ![onMovedClock, runInProcess].includes(run) || own === '--file';
  const settle = isHeardOut ? '2s' : '500ms';
  const rest = flags.filter(
    (_, index) => own !== '--file' || ![0, 1].includes(index - flags.indexOf('--file')),
  );
  const common = ['--file', fixture(spoken), '--pace', pace, '--settle', settle];
  const asked = ['--expect-audible', '900ms', '--forbid-event', 'error', '--json'];
  reports += 1;
  const report = join(folder, `junit-${reports}.xml`);
  const { code, stdout, stderr } = await run([
    ...['stream', ...common, '--base-url', baseUrl],
    ...asked,
    ...['--junit', report],
    ...rest,
  ]);
  const lines = jsonLines(stdout);
  const summary = only(lines, 'summary') as {
    ok?: boolean;
    failure?: { kind: string; exitCode: number } | null;
  };
  return { code, stderr, summary, last: lines.at(-1), junit: readFileSync(report, 'utf8') };
}

/** Rows about a voice need a voice. Some faults begin so late that only a long one shows them. */
function replyOf(flags: readonly string[], fault = ''): string {
  if (!flags.some((flag) => flag.startsWith('--expect-clean'))) return 'tone';
  return `file:${fixture(['clicks', 'dropouts', 'cut-off'].includes(fault) ? 'question.wav' : 'hello.wav')}`;
}

interface Faulty {
  fault?: string | undefined;
  flags?: readonly string[];
  clock?: Clock;
}

function startFaulty({ fault, flags = [], clock = systemClock }: Faulty = {}) {
  const faults = fault === undefined ? [] : [readFault(fault)];
  return createEmulator({ reply: replyOf(flags, fault), seed: 1, faults, clock });
}

/** The same smoke test in this process: program and service share one clock, which is moved. */
async function smokeTestFast(fault: string | undefined, flags: readonly string[]) {
  await using emulator = await startFaulty({ fault, flags, clock: hastyClock });
  return await smokeTest(onMovedClock, emulator.baseUrl, flags);
}

async function smokeTestInRealTime(run: Run, promised: Promised) {
  await using emulator = await startFaulty(promised);
  return await smokeTest(run, emulator.baseUrl, promised.flags);
}

/** The verdict is the same everywhere. */
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

// Loading modules for the first run takes real time.
beforeAll(async () => {
  await smokeTestFast(undefined, []);
  await smokeTestFast('token-error', []);
});

describe.concurrent('the smoke test', () => {
  test('passes if nothing is wrong', async () => {
    const { code, summary, junit } = await smokeTestFast(undefined, ['--max-audio', '1200ms']);
    expect({ code, ok: summary.ok, failure: summary.failure }).toEqual({ code: 0, ok: true, failure: null });
    expect(junit).toContain('failures="0" errors="0"');
  });

  test.for(['--expect-clean', '--expect-clean=strict'])(
    'passes with %s if the voice is clean',
    async (flag) => {
      const { code, summary, stderr } = await smokeTestFast(undefined, [flag]);
      expect({ code, ok: summary.ok, stderr }).toEqual({ code: 0, ok: true, stderr: '' });
    },
  );

  test('fails for at least 25 faults, with every exit code that a service can cause', () => {
    expect(table.length).toBeGreaterThan(25);
    expect(new Set(table.map(({ exitCode }) => exitCode))).toEqual(new Set([1, 3, 4, 5, 6, 7]));
    expect(new Set(table.map(({ fault, flags }) => `${fault} ${flags}`)).size).toBe(table.length);
  });

  test.for(table.filter((row) => !isRealTime(row) && isInSample(row)))(
    'with the fault $fault and $flags ends with $exitCode, $kind',
    async (promised) => {
      expectFailure(await smokeTestFast(promised.fault, promised.flags), promised);
    },
  );

  test.for([
    'token-slow:delay=500ms',
    'upgrade-slow:delay=500ms',
    'connected-late:delay=500ms',
    'message-malformed',
    'message-unknown',
    'odd-split',
  ])('tolerates %s', async (fault) => {
    const { code, stderr } = await smokeTestFast(fault, []);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe.concurrent('the smoke test in real time', () => {
  test.for(table.filter(isRealTime))(
    'with the fault $fault and $flags ends with $exitCode, $kind',
    async (promised) => {
      expectFailure(await smokeTestInRealTime(runInProcess, promised), promised);
    },
  );

  test.for(byProgram)(
    'by the real program with the fault $fault and $flags ends with $exitCode',
    async (promised, context: TestContext) => {
      expectFailure(await smokeTestInRealTime(sandboxFor(context).run, promised), promised);
    },
  );
});

describe('the smoke test of a service that is not there', () => {
  const expectGivenUp = async (baseUrl: string, expected: Pick<Promised, 'exitCode' | 'kind'>) =>
    expectFailure(await smokeTest(runInProcess, baseUrl, ['--retries', '0']), expected);

  test('reports that nobody answers', async () => {
    const port = await services.unusedPort();
    await expectGivenUp(`http://127.0.0.1:${port}`, { exitCode: 4, kind: 'unreachable' });
  });

  test('reports that there is no TLS', async () => {
    await using emulator = await startFaulty();
    await expectGivenUp(emulator.baseUrl.replace('http', 'https'), { exitCode: 4, kind: 'tls' });
  });

  test('reports that it speaks another protocol', async () => {
    const { port } = await services.tcp((socket) => socket.end('220 mail.example ESMTP\r\n'));
    await expectGivenUp(`http://127.0.0.1:${port}`, { exitCode: 6, kind: 'protocol' });
  });
});
