import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, type TestContext, test } from 'vitest';
import { startEmulatorFor } from '../helpers/emulators.ts';
import { makeFullPipe, makePipe } from '../helpers/unread-pipe.ts';
import { fixture, type Sandbox, sandboxFor, setUpSandbox, summaryOf } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const endless = `--file ${fixture('hello.wav')} --loop`;
const isThere = (sandbox: Sandbox, name: string, { expect }: TestContext) =>
  expect.poll(() => existsSync(sandbox.path(name)), { timeout: 20_000 }).toBe(true);

describe.concurrent('with standard output to a pipe that nobody reads', () => {
  /** Starts sessions whose output nobody reads; `seen` waits until the service knows one. */
  async function startStreams(context: TestContext, flags: readonly string[]) {
    const sandbox = sandboxFor(context);
    makeFullPipe(sandbox, 'full');
    const emulator = await startEmulatorFor(context);
    const session = `exec voicectl stream ${endless} --base-url ${emulator.baseUrl}`;
    const streams = flags.map((own, n) => sandbox.startShell(`${session} --device d${n} ${own}`));
    const seen = (n: number) => emulator.waitFor('token-issued', ({ device }) => device === `d${n}`);
    return { streams, seen };
  }

  test('stream ends at a signal with its code, whatever it writes, and at its --timeout with 7', async (context) => {
    // Each form of output and each way to end occurs once; `npm run endings` covers more of both.
    const cases = [
      ['SIGTERM', 143, '-v >full 2>&1'],
      ['SIGINT', 130, '--json >full'],
      ['SIGHUP', 129, '>full'],
      [undefined, 7, '--timeout 1s --out - >full'],
    ] as const;
    const { streams, seen } = await startStreams(
      context,
      cases.map(([, , form]) => form),
    );
    for (const [index, stream] of streams.entries()) {
      const signal = cases[index]?.[0];
      if (signal === undefined) continue;
      await seen(index);
      stream.signal(signal);
    }
    const codes = await Promise.all(streams.map(async ({ ended }) => (await ended).code));
    expect(codes).toEqual(cases.map(([, code]) => code));
    expect(streams.at(-1)?.stderr).toContain('voicectl: Timed out after 1 s');
  });

  test('serve ends at a signal and reports what is lost', async (context) => {
    const sandbox = sandboxFor(context);
    makeFullPipe(sandbox, 'full');
    const serve = sandbox.startShell('exec voicectl serve --port 0 --ready-file ready >full');
    await isThere(sandbox, 'ready', context);
    serve.signal('SIGTERM');
    expect(await serve.ended).toMatchObject({
      code: 8,
      stderr: 'voicectl: Cannot write to standard output: it was closed\n',
    });
  });
});

describe.concurrent('with an output file that is a named pipe without a reader', () => {
  test('--out ends at the --timeout: with 8, or with 7 if the timeout comes before the file is opened', async (context) => {
    const sandbox = sandboxFor(context);
    makePipe(sandbox, 'pipe');
    const { code } = await sandbox.shell(`voicectl stream ${endless} --local --out pipe --timeout 2s`);
    expect([7, 8]).toContain(code);
  });

  test('--junit ends at SIGTERM with 8 after a successful session', async (context) => {
    const sandbox = sandboxFor(context);
    makePipe(sandbox, 'pipe');
    const emulator = await startEmulatorFor(context, { reply: 'echo' });
    const file = `--file ${fixture('barge-in.wav')} --pace max --tail 0`;
    const stream = sandbox.startShell(
      `exec voicectl stream ${file} --base-url ${emulator.baseUrl} --junit pipe --settle 100ms --json`,
    );
    await stream.line(/"type":"summary"/);
    stream.signal('SIGTERM');
    expect((await stream.ended).code).toBe(8);
  });

  test('--ready-file ends at SIGTERM with 8', async (context) => {
    const sandbox = sandboxFor(context);
    makePipe(sandbox, 'pipe');
    const serve = sandbox.startShell(
      'exec voicectl serve --port 0 --tls --cert-out cert.pem --ready-file pipe',
    );
    await isThere(sandbox, 'cert.pem', context);
    serve.signal('SIGTERM');
    expect(await serve.ended).toMatchObject({ code: 8, stdout: '' });
  });
});

test('--out waits for the reader of a named pipe, and gives it all the audio', async (context) => {
  makePipe(sandbox, 'pipe');
  const stream = await sandbox.startHere([
    ...[
      'stream',
      '--file',
      fixture('barge-in.wav'),
      '--pace',
      'max',
      '--tail',
      '0',
      '--local',
      '--reply',
      'echo',
    ],
    ...['--out', sandbox.path('pipe'), '--junit', sandbox.path('j.xml'), '--json'],
  ]);
  await isThere(sandbox, 'j.xml', context);
  await sandbox.shell('cat pipe >got.wav');
  const { code, stdout } = await stream.ended;
  expect(code).toBe(0);
  expect(readFileSync(sandbox.path('got.wav')).length).toBe(44 + summaryOf(stdout).in.bytes);
});

describe('a report', () => {
  test.each([
    ['a folder', '.'],
    ['below a file', 'file/x'],
    ['in a missing folder', 'no/j.xml'],
    ['too long', 'x'.repeat(256)],
  ])('whose path is %s ends it with 8 and one line', async (_what, path) => {
    sandbox.write('file', '');
    const file = fixture('hello.wav');
    for (const command of [
      ['stream', '--file', file, '--loop', '--local', '--junit'],
      ['serve', '--port', '0', '--ready-file'],
    ]) {
      const { code, stderr } = await sandbox.runHere([...command, path]);
      expect({ code, stderr }).toEqual({
        code: 8,
        stderr: expect.stringMatching(/^voicectl: Cannot write .*\n$/),
      });
    }
  });

  test('may have the longest possible name', async () => {
    const name = 'x'.repeat(255);
    const file = ['--file', fixture('barge-in.wav'), '--pace', 'max', '--tail', '0'];
    const { code } = await sandbox.runHere([
      'stream',
      ...file,
      '--local',
      '--reply',
      'echo',
      '--junit',
      name,
    ]);
    expect(code).toBe(0);
    expect(sandbox.read(name)).toContain('failures="0"');
  });
});
