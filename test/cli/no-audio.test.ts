import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { grant, startTokenStub } from '../helpers/token-stub.ts';
import { fixture, jsonLines, setUpSandbox, summaryOf } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const root = join(import.meta.dirname, '..', '..');

/**
 * The package as it is after an installation without install scripts and optional packages, on a machine without
 * any program that can reach a sound device.
 */
const installed = mkdtempSync(join(tmpdir(), 'voicectl-lean-'));
const only = join(installed, 'only');
const lean = { copy: pathToFileURL(join(installed, 'dist', 'cli.js')).href, env: { PATH: only } };
const run = (...args: string[]) => sandbox.runHere(args, lean);

beforeAll(() => {
  for (const folder of ['bin', 'dist']) {
    cpSync(join(root, folder), join(installed, folder), {
      recursive: true,
      filter: (path) => !path.endsWith(join('dist', 'types')),
    });
  }
  writeFileSync(join(installed, 'package.json'), '{"type":"module"}');
  mkdirSync(only);
  symlinkSync(process.execPath, join(only, 'node'));
  symlinkSync('/bin/sh', join(only, 'sh'));
});
afterAll(() => rmSync(installed, { recursive: true, force: true }));

describe('without any audio backend', () => {
  test('--mic ends with 8 and names what to install', async () => {
    const { code, stdout, stderr } = await sandbox.shell(
      `node ${join(installed, 'bin', 'voicectl.js')} stream --mic --local`,
      { env: { PATH: only } },
    );
    expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
    expect(stderr).toMatch(
      /^voicectl: No microphone is available: no audio backend is installed\n {2}Install one of: .+\n$/,
    );
    for (const program of ['parec', 'arecord', 'ffmpeg', 'sox']) expect(stderr).toContain(program);
  });

  test('--play says the same of the loudspeaker, before anything is sent', async () => {
    const { code, stderr } = await run('stream', '--file', fixture('barge-in.wav'), '--play', '--local');
    expect(code).toBe(8);
    expect(stderr).toMatch(/^voicectl: No loudspeaker is available/);
  });

  test('--file works as usual', async () => {
    const { code, stdout } = await run(
      ...['stream', '--file', fixture('barge-in.wav'), '--local', '--reply', 'echo', '--pace', 'max'],
      ...['--tail', '0', '--settle', '200ms', '--expect-audio', '--json'],
    );
    expect(code).toBe(0);
    expect(summaryOf(stdout)).toMatchObject({ ok: true, underruns: null });
  });

  test('devices ends with 8, and doctor with 0: what --file needs is there', async () => {
    expect(await run('audio', '--json')).toMatchObject({ code: 8 });
    const { code, stdout } = await run('doctor', '--json');
    expect(code).toBe(0);
    const { checks } = JSON.parse(stdout) as { checks: Record<string, string>[] };
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: 'microphone',
        state: 'warning',
        mend: expect.stringMatching(/Install/),
      }),
    );
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'sox', state: 'off', found: expect.stringMatching(/not installed/) }),
    );
  });
});

describe('doctor', () => {
  const parsed = (stdout: string) => (stdout.startsWith('{\n') ? JSON.parse(stdout) : jsonLines(stdout)[0]);
  const checksOf = (stdout: string) =>
    // One object, or lines of which the last is the error.
    new Map((parsed(stdout).checks as { name: string }[]).map((check) => [check.name, check]));

  test('fails with the exit code for a failed connection if the given target does not answer', async () => {
    const { code, stdout, stderr } = await sandbox.runHere(
      ['doctor', '--json', '--base-url', 'http://127.0.0.1:1'],
      lean,
    );
    expect(code).toBe(4);
    expect(stderr).toMatch(/^voicectl: target: .*connection refused/);
    const [found, error] = jsonLines(stdout);
    expect(error).toMatchObject({ type: 'error', code: 'connect-failed', exitCode: 4 });
    expect(found?.ok).toBe(false);
    expect(checksOf(stdout).get('target')).toMatchObject({ state: 'broken', code: 'connect-failed' });
  });

  test('with --quiet prints only what is not right', async () => {
    const { code, stdout } = await sandbox.runHere(['doctor', '--quiet'], lean);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^! microphone /m);
    expect(stdout).not.toMatch(/^[✓·]/m);
  });

  test('finds a target that answers, compares the clocks, and trusts no certificate but the one that --ca names', async () => {
    const { baseUrl } = await sandbox.serveHere(['--tls', '--cert-out', 'cert.pem']);
    const doctor = ['doctor', '--json', '--base-url', baseUrl];
    const { code, stdout } = await sandbox.runHere([...doctor, '--ca', 'cert.pem'], lean);
    expect(code).toBe(0);
    const checks = checksOf(stdout);
    expect(checks.get('target')).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/answers in \d+ ms/),
    });
    expect(checks.get('clock')).toMatchObject({ state: 'ok' });
    const untrusting = await sandbox.runHere(doctor, lean);
    expect(checksOf(untrusting.stdout).get('target')).toMatchObject({
      state: 'broken',
      mend: expect.stringContaining('--ca FILE'),
    });
  });

  test.each([
    ['ahead', 3_600_000],
    ['behind', -3_600_000],
  ])('warns of a target whose clock is an hour %s', async (what, skewMs) => {
    const { baseUrl } = await startTokenStub(sandbox, (response) => {
      response.setHeader('Date', new Date(Date.now() + skewMs).toUTCString());
      grant('t')(response);
    });
    const { stdout } = await sandbox.runHere(['doctor', '--json', '--base-url', baseUrl], lean);
    expect(checksOf(stdout).get('clock')).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(new RegExp(`^the target’s is 3[56]\\d\\d s ${what}$`)),
      mend: expect.stringContaining('Set this machine’s clock'),
    });
  });

  test('asks the address of streams too, if it has one of its own', async () => {
    const { baseUrl, wsUrl } = await sandbox.serveHere([]);
    const doctor = ['doctor', '--json', '--base-url', baseUrl];
    const both = await sandbox.runHere([...doctor, '--ws-url', wsUrl], lean);
    expect(both.code).toBe(0);
    expect(checksOf(both.stdout).get('target')).toMatchObject({
      found: expect.stringContaining(`and ${wsUrl} too`),
    });
    const one = await sandbox.runHere([...doctor, '--ws-url', 'ws://127.0.0.1:1'], lean);
    expect(one.code).toBe(4);
    expect(checksOf(one.stdout).get('target')).toMatchObject({ state: 'broken', code: 'connect-failed' });
  });

  test('does not ask the address of streams of another service, as no command would', async () => {
    const { baseUrl } = await sandbox.serveHere([]);
    sandbox.write('voicectl.config.yaml', 'baseUrl: http://127.0.0.1:1\nwsUrl: ws://127.0.0.1:1\n');
    const doctor = ['doctor', '--json', '--base-url', baseUrl];
    const { code, stdout } = await sandbox.runHere(doctor, lean);
    expect(code).toBe(0);
    const target = JSON.stringify(checksOf(stdout).get('target'));
    expect(target).toContain(`${baseUrl} answers`);
    expect(target).not.toContain('ws:');
  });

  // 0.0.0.0 does not look like a loopback address, but reaches a service on this machine.
  test('asks another host nothing over plain HTTP, where no command would send a key', async () => {
    const stub = await startTokenStub(sandbox, grant('t'));
    const doctor = ['doctor', '--json', '--base-url', `http://0.0.0.0:${stub.port}`];
    const { code, stdout } = await sandbox.runHere(doctor, lean);
    expect(code).toBe(2);
    expect(checksOf(stdout).get('target')).toMatchObject({
      state: 'broken',
      code: 'insecure-target',
      mend: expect.stringContaining('--allow-plaintext'),
    });
    expect(stub.connections).toBe(0);
    expect(await sandbox.runHere([...doctor, '--allow-plaintext'], lean)).toMatchObject({ code: 0 });
  });

  test.each([['--local'], ['--device=d1'], ['--api-key-file=key']])(
    'does not accept %s, which it would ignore',
    async (flag) => {
      expect(await sandbox.runHere(['doctor', flag], lean)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('unknown option'),
      });
    },
  );

  test('is a table for people, with how to fix problems below', async () => {
    const { stdout } = await sandbox.runHere(['doctor'], lean);
    expect(stdout).toMatch(/^✓ node +\d+\.\d+\.\d+ on /m);
    expect(stdout).toMatch(
      /^· target .+\n +→ `voicectl serve` starts a local one; many commands run one themselves with --local/m,
    );
    expect(stdout).toMatch(/^· sox +not used: .*not installed\n +→ Install sox/m);
  });
});

describe('while a sound server hangs', () => {
  /** A program that reports its start, and then does nothing more. */
  const hang = (name: string) => {
    const code = `require('fs').writeFileSync('${sandbox.path('hangs')}', ''); setInterval(() => {}, 1000)`;
    mkdirSync(sandbox.path('only'));
    sandbox.write(`only/${name}`, `#!${process.execPath}\n${code}\n`, 0o755);
    return { env: { PATH: sandbox.path('only') } };
  };

  test.each([
    ['doctor', 'parec'],
    ['audio', 'pactl'],
  ])('Ctrl-C ends %s, and nothing about sound is printed', async (command, name) => {
    const hung = hang(name);
    if (command === 'audio') sandbox.write('only/parec', '', 0o755);
    const running = sandbox.start([command], hung);
    await expect.poll(() => existsSync(sandbox.path('hangs'))).toBe(true);
    running.signal('SIGINT');
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(stdout).not.toMatch(/pulse|microphone/);
  });
});

test('a recording of the microphone that cannot be written ends the session, with --local too', async () => {
  sandbox.write(
    'bin/parec',
    `#!${process.execPath}\nsetInterval(() => process.stdout.write(Buffer.alloc(6400)), 20)`,
    0o755,
  );
  const flags = ['--mic', '--no-play', '--local', '--audio-backend', 'pulse', '--record-mic', 'mic.wav'];
  // A file may have 8 KiB, as on a full disk.
  const { code, stderr } = await sandbox.shell(
    `trap '' XFSZ; ulimit -f 16; exec voicectl stream ${flags.join(' ')} > /dev/null`,
  );
  expect({ code, stderr }).toEqual({ code: 8, stderr: expect.stringMatching(/mic\.wav/) });
});

describe('flags of live audio', () => {
  const file = ['--file', fixture('hello.wav')];
  test.each([
    [['--mic', ...file], /More than one source/],
    [['--mic', '--loop'], /--loop cannot be combined with --mic/],
    [['--mic', '--pace', '2'], /--pace cannot be combined with --mic/],
    [['--mic', '--tail', '1s'], /--tail cannot be combined with --mic/],
    [[...file, '--record-mic', 'a.wav'], /--record-mic needs --mic/],
    [[...file, '--aec'], /--aec needs a microphone and a loudspeaker/],
    [['--mic', '--no-play', '--aec'], /--aec needs a microphone and a loudspeaker/],
    [[...file, '--play', '--input-device', 'usb'], /--input-device needs a microphone\n/],
    [[...file, '--output-device', 'usb'], /--output-device needs a loudspeaker\n.*--play/],
    [[...file, '--volume', '50'], /--volume needs a loudspeaker/],
    [['--mic', '--no-play', '--barge-in'], /--barge-in needs a loudspeaker/],
    [[...file, '--audio-backend', 'pulse'], /--audio-backend needs a microphone or a loudspeaker/],
    [[...file, '--sound-timeout', '5s'], /--sound-timeout needs a microphone or a loudspeaker/],
    [
      ['--mic', '--audio-backend', 'gramophone'],
      /--audio-backend: "gramophone" is not valid: expected one of pulse/,
    ],
    [['--mic', '--volume', '500'], /--volume/],
  ])('that contradict each other or have no effect are refused (%#)', async (flags, message) => {
    const { code, stderr } = await sandbox.runHere(['stream', '--local', ...flags]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });
});
