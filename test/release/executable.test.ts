import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from 'vitest';
import { hasBrowser } from '../helpers/browser.ts';
import { setUpTabs } from '../helpers/browser-tabs.ts';
import { hasRedis, setUpRedis } from '../helpers/redis.ts';
import { hasSoundServer, startSoundServer } from '../helpers/sound-server.js';
import { hasTmux, terminalsFor } from '../helpers/tmux.ts';
import { fixture, jsonLines, only, type Running, summaryOf, watchProcess } from '../helpers/voicectl.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const megabyte = 1e6;
vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 });

/** Where an executable is built, or why it is not. */
async function build(platform: string): Promise<{ file: string; missing?: string }> {
  const out = mkdtempSync(join(tmpdir(), 'voicectl-executable-'));
  const file = join(out, `voicectl-${platform}`);
  try {
    await execute(process.execPath, [
      join(root, 'release', 'executables.js'),
      platform,
      '--built',
      '--out',
      out,
    ]);
    return { file };
  } catch (thrown) {
    const { stderr } = thrown as { stderr: string };
    // The tests are only skipped if a package cannot be downloaded, not if the script is broken.
    if (!/npm error (code E404|network|code E(NOTFOUND|CONNREFUSED|AI_AGAIN|TIMEDOUT))/.test(stderr))
      throw thrown;
    process.stderr.write(`SKIPPED: the executable for ${platform} needs a package of Node: ${stderr}\n`);
    return { file, missing: stderr };
  }
}

const isLinux = process.platform === 'linux' && process.arch === 'x64';
if (!isLinux) process.stderr.write('SKIPPED: the tests of the executable run on Linux x64 only\n');

/** Third-party programs that voicectl and these tests use, except Node. */
const foreign = ['sh', 'cat', 'curl', 'sox', 'parec', 'pacat', 'paplay', 'pactl', 'stty', 'setsid'];

describe.skipIf(!isLinux)('the executable for Linux', () => {
  let file = '';
  let missing: string | undefined;
  let base = '';
  let bin = '';
  let home = '';
  beforeAll(async () => {
    ({ file, missing } = await build('linux-x64'));
    base = dirname(file);
    [bin, home] = [join(base, 'bin'), join(base, 'home')];
    mkdirSync(bin);
    mkdirSync(home);
    for (const name of foreign) {
      const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
      if (found !== '') symlinkSync(found, join(bin, name));
    }
    symlinkSync(file, join(bin, 'voicectl'));
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  const environment = (env: Record<string, string> = {}) => ({ PATH: bin, HOME: home, ...env });
  const start = (
    { skip, onTestFinished }: TestContext,
    args: readonly string[],
    { env = {}, program = file }: { env?: Record<string, string>; program?: string } = {},
  ): Running => {
    if (missing !== undefined) skip(missing);
    const cwd = mkdtempSync(join(base, 'work-'));
    const running = watchProcess(program, args, { cwd, env: environment(env) });
    running.child.stdin?.end();
    onTestFinished(async () => {
      running.signal('SIGKILL');
      await running.ended;
    });
    return running;
  };

  test.concurrent('runs without Node, and streams a file through a complete session', async (context) => {
    expect(spawnSync('sh', ['-c', 'command -v node'], { env: environment() }).status).not.toBe(0);
    const args = ['stream', '--file', 'hello.wav', '--local', '--expect-audio', '--json'];
    const { code, stdout, stderr } = await start(context, args).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(summaryOf(stdout)).toMatchObject({ ok: true, close: { code: 1000 } });
    expect(readdirSync(join(home, '.cache', 'voicectl'))).toHaveLength(1);
  });

  test.concurrent('says which build it is, and has the licences of everything in it', async (context) => {
    const { stdout } = await start(context, ['--version', '--verbose']).ended;
    expect(stdout).toMatch(/^voicectl \d+\.\d+\.\d+\n {2}executable for linux-x64, its files unpacked in /);
    expect(stdout).toMatch(/Node \d+\.\d+\.\d+ on linux x64/);
    const [, licences = ''] = /licences of all included software: (.*)/.exec(stdout) ?? [];
    const text = readFileSync(licences, 'utf8');
    for (const words of ['commander ', 'Node.js\n', 'WebRTC project authors', 'OpenSSL'])
      expect(text).toContain(words);
  });

  test.concurrent('is no larger than 130 MB, and has a checksum', (context) => {
    if (missing !== undefined) context.skip(missing);
    expect(statSync(file).size).toBeLessThan(130 * megabyte);
    const sums = readFileSync(join(base, 'SHA256SUMS'), 'utf8');
    expect(execFileSync('sha256sum', ['-c'], { cwd: base, input: sums }).toString()).toBe(
      'voicectl-linux-x64: OK\n',
    );
  });

  test.concurrent('ignores the options of an installed Node', async (context) => {
    const env = { NODE_OPTIONS: '--require /not/there --no-such-flag' };
    expect(await start(context, ['--version'], { env }).ended).toMatchObject({ code: 0, stderr: '' });
  });

  test.concurrent('runs without a writable home, and for a user without one', async (context) => {
    for (const env of [{ HOME: '/proc/none' }, { HOME: '', XDG_CACHE_HOME: '/dev/null' }]) {
      const temporary = mkdtempSync(join(base, 'tmp-'));
      const ended = await start(context, ['--version'], { env: { ...env, TMPDIR: temporary } }).ended;
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(readdirSync(temporary)).toEqual([`voicectl-${process.getuid?.()}`]);
    }
  });

  test.concurrent('refuses a folder that others can write to, with exit 8 and a way out', async (context) => {
    const cache = mkdtempSync(join(base, 'cache-'));
    const env = { XDG_CACHE_HOME: cache };
    expect((await start(context, ['--version'], { env }).ended).code).toBe(0);
    const [name = ''] = readdirSync(join(cache, 'voicectl'));
    chmodSync(join(cache, 'voicectl', name, 'files', 'dist'), 0o777);
    expect(await start(context, ['--version'], { env }).ended).toMatchObject({
      code: 8,
      stdout: '',
      stderr: expect.stringMatching(/others may write into it\n {2}Remove that folder, or .* XDG_CACHE_HOME/),
    });
  });

  test.concurrent('reports usage errors, with its own exit codes', async (context) => {
    const ended = await start(context, ['stream', '--no-such-flag']).ended;
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('--no-such-flag') });
  });

  test.concurrent('starts several times at once when nothing is unpacked yet', async (context) => {
    const env = { XDG_CACHE_HOME: mkdtempSync(join(base, 'cache-')) };
    const all = await Promise.all([1, 2, 3].map(() => start(context, ['--version'], { env }).ended));
    expect(all.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(3).fill({ code: 0, stderr: '' }));
    expect(readdirSync(join(env.XDG_CACHE_HOME, 'voicectl'))).toHaveLength(1);
  });

  test.concurrent('exec runs a command against the emulator, including itself', async (context) => {
    const script = 'voicectl stream --file hello.wav --expect-audio --json';
    const { code, stdout } = await start(context, ['exec', '--', 'sh', '-c', script]).ended;
    expect(code).toBe(0);
    expect(summaryOf(stdout)).toMatchObject({ ok: true });
  });

  test.concurrent('drill puts a device through a situation', async (context) => {
    const device = ['voicectl', 'stream', '--file', 'hello.wav', '--json'];
    const { stdout } = await start(context, ['drill', '--situation', 'D1', '--', ...device]).ended;
    expect(stdout).toMatch(/^D1 +pass /m);
  });

  test.concurrent('load measures with separate processes', async (context) => {
    const serving = start(context, ['serve', '--port', '0', '--json']);
    const { baseUrl } = JSON.parse(await serving.line(/"type":"listening"/)) as { baseUrl: string };
    const load = ['load', '--base-url', baseUrl, '--api-key', 'any-key', '--processes', '2', '--json'];
    const { code, stdout, stderr } = await start(context, [...load, '--sessions', '4']).ended;
    // A busy machine makes the measurement invalid (9), but not the sessions.
    expect([0, 9], stderr).toContain(code);
    expect(stdout).toMatch(/"confirmed":4/);
  });

  describe.skipIf(!hasRedis)('with Redis', () => {
    const redis = setUpRedis();

    test('serve shares one port among processes', async (context) => {
      const { url } = await redis();
      const args = ['serve', '--port', '0', '--json', '--processes', '2', '--shared', url];
      const running = start(context, args);
      const { baseUrl } = JSON.parse(await running.line(/"type":"listening"/)) as { baseUrl: string };
      for (let at = 0; at < 6; at += 1) {
        const body = JSON.stringify({ apiKey: 'any-key', deviceId: 'd' });
        const headers = { 'Content-Type': 'application/json', Connection: 'close' };
        const url = `${baseUrl}/api/websocket-voice/token`;
        expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
      }
      await running.line(/"remaining":54/);
      const issued = jsonLines(running.stdout).filter(({ type }) => type === 'token-issued');
      expect(new Set(issued.map(({ instance }) => instance)).size).toBe(2);
      running.signal('SIGTERM');
      expect((await running.ended).code).toBe(0);
    });
  });

  describe.skipIf(!hasTmux)('in a terminal', () => {
    test('draws a screen', async (context) => {
      if (missing !== undefined) context.skip(missing);
      const terminals = terminalsFor(context);
      const terminal = await terminals.start(
        `exec env -i PATH=${bin} HOME=${home} TERM=xterm-256color ${file} serve --port 0; cat`,
        {
          columns: 100,
          rows: 30,
        },
      );
      const sees = (text: string) =>
        context.expect.poll(() => terminal.screen(), { timeout: 30_000 }).toContain(text);
      await sees('http://127.0.0.1:');
      expect((await terminal.flags()).alternate).toBe(true);
    });
  });

  describe.skipIf(!hasBrowser)('in a browser', () => {
    const newTab = setUpTabs();

    test('serves the page, which shows a stream', async (context) => {
      const running = start(context, ['serve', '--port', '0', '--output', 'plain']);
      const [, url = ''] = /page +(\S+)/.exec(await running.line(/^ +page /)) ?? [];
      const baseUrl = new URL(url).origin;
      const page = await newTab();
      await page.goto(url);
      const args = ['stream', '--file', 'hello.wav', '--base-url', baseUrl, '--device', 'kitchen'];
      await start(context, args, { env: { VOICECTL_API_KEY: 'any-key' } }).ended;
      await page.getByText('kitchen').first().waitFor({ timeout: 20_000 });
    });
  });

  describe.skipIf(!hasSoundServer())('with a sound server', { retry: 2 }, () => {
    test('records the microphone and plays the reply, without its echo', async (context) => {
      const server = await startSoundServer();
      context.onTestFinished(server.close);
      const args = ['stream', '--mic', '--play', '--aec', '--local', '--reply', 'echo'];
      const flags = ['--audio-backend', 'pulse', '--duration', '3s', '--json'];
      const running = start(context, [...args, ...flags], { env: server.env });
      await running.line(/"state":"live"/);
      await server.speak(fixture('hello.wav'));
      const { code, stdout } = await running.ended;
      expect({ code, summary: only(jsonLines(stdout), 'summary') }).toMatchObject({
        code: 0,
        summary: { ok: true, in: { bytes: expect.any(Number) } },
      });
      expect(summaryOf(stdout).in.bytes).toBeGreaterThan(32_000);
    });
  });
});

/** Debian's packages qemu-user, libc6-arm64-cross, libstdc++6-arm64-cross and libgcc-s1-arm64-cross. */
const emulated = '/usr/aarch64-linux-gnu';
const hasEmulation =
  isLinux &&
  spawnSync('qemu-aarch64', ['--version']).status === 0 &&
  existsSync(`${emulated}/lib/libstdc++.so.6`);
if (!hasEmulation)
  process.stderr.write('SKIPPED: the executable for arm64 needs qemu-user and its libraries\n');

describe.skipIf(!hasEmulation)('the executable for Linux on arm64', () => {
  test('streams a file through a complete session, under qemu', async ({ skip, onTestFinished }) => {
    const { file, missing } = await build('linux-arm64');
    const base = dirname(file);
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    if (missing !== undefined) skip(missing);
    writeFileSync(join(base, 'hello.wav'), readFileSync(fixture('hello.wav')));
    const args = ['stream', '--file', 'hello.wav', '--local', '--expect-audio', '--json'];
    const running = watchProcess('qemu-aarch64', ['-L', emulated, file, ...args], {
      cwd: base,
      env: { PATH: '/nowhere:/usr/bin', HOME: base },
    });
    running.child.stdin?.end();
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(summaryOf(stdout)).toMatchObject({ ok: true });
  });
});
