import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createEmulator } from '../../../src/emulator/emulator.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { runInProcess, startInProcess } from '../../helpers/in-process.ts';
import { setUpServices } from '../../helpers/services.ts';
import { openStream } from '../../helpers/stream-client.ts';
import { type Addresses, jsonLines, only } from '../../helpers/voicectl.ts';

const services = setUpServices();
const startEmulator = setUpEmulators();
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-proxy-'));
  folders.push(folder);
  return folder;
}

/** A device that asks for a token in the wrong way, as a shell command. */
const badDevice = [
  process.execPath,
  '-e',
  "fetch(process.env.VOICECTL_BASE_URL + '/api/websocket-voice/token', { method: 'POST', body: '{}' })",
];

describe('voicectl proxy', () => {
  test('listens, shows its addresses, and ends after its duration', async () => {
    await using emulator = await createEmulator();
    const readyFile = join(newFolder(), 'ready.json');
    const args = [
      '--target',
      emulator.baseUrl,
      '--port',
      '0',
      '--duration',
      '50ms',
      '--ready-file',
      readyFile,
    ];
    const ended = await runInProcess(['proxy', ...args, '--json']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const told = jsonLines(ended.stdout);
    expect(told.map(({ type }) => type)).toEqual(['listening', 'stopping']);
    const { baseUrl, page } = only(told, 'listening');
    expect(page).toMatch(new RegExp(`^${baseUrl}/__voicectl/#[\\w-]{32}$`));
    expect(JSON.parse(readFileSync(readyFile, 'utf8'))).toMatchObject({ baseUrl });
    const without = await runInProcess(['proxy', ...args, '--json', '--no-page']);
    expect(only(jsonLines(without.stdout), 'listening')).not.toHaveProperty('page');
    const plain = await runInProcess(['proxy', ...args]);
    expect(plain.stdout).toContain(`relays everything to ${emulator.baseUrl}`);
  });

  test.each([
    ['no target', [], 2, 'No service: set it with --target URL'],
    [
      'a host beyond this machine',
      ['--target', 'TARGET', '--host', '0.0.0.0'],
      2,
      'Refusing to listen on 0.0.0.0',
    ],
    [
      'a plain target elsewhere',
      ['--target', 'http://192.0.2.1'],
      2,
      'Refusing to send a key or token to 192.0.2.1',
    ],
    [
      'a wrong fault',
      ['--target', 'TARGET', '--fault', 'nonsense'],
      2,
      '--fault: "nonsense" is not valid: expected a fault',
    ],
    [
      'a fault that it cannot make, before it reaches the target',
      ['--target', 'NOBODY', '--fault', 'user-echo'],
      2,
      'A proxy cannot produce user-echo',
    ],
    ['a target where nobody listens', ['--target', 'NOBODY'], 4, 'connection refused'],
    ['a record folder that is a file', ['--target', 'TARGET', '--record', '/dev/null/x'], 8, 'Cannot write'],
  ])('refuses %s', async (_what, args, code, text) => {
    await using emulator = await createEmulator();
    const nobody = `http://127.0.0.1:${await services.unusedPort()}`;
    const real = args.map((arg) => ({ TARGET: emulator.baseUrl, NOBODY: nobody })[arg] ?? arg);
    const ended = await runInProcess(['proxy', '--port', '0', '--duration', '1ms', ...real]);
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(text) });
  });
});

describe('voicectl proxy, used by a device,', () => {
  /** Starts a proxy, has `use` do something through it, and ends it. */
  async function runProxy(args: readonly string[], use: (baseUrl: string) => Promise<unknown>) {
    const proxy = startInProcess(['proxy', '--port', '0', '--json', ...args]);
    const { baseUrl } = JSON.parse(await proxy.line(/"type":"listening"/));
    await use(baseUrl);
    proxy.signal('SIGTERM');
    return proxy.ended;
  }

  test.each([
    [[], 0, ''],
    [['--fail-on', 'violation'], 1, /Found \d+ violations? \(--fail-on violation\)/],
    [['--fail-on', 'remark'], 1, /Found \d+ violations? and 0 remarks \(--fail-on remark\)/],
  ])('after a request that breaks a rule, with %j ends with %i', async (flags, code, said) => {
    await using emulator = await createEmulator();
    const ended = await runProxy(['--target', emulator.baseUrl, ...flags], (baseUrl) =>
      fetch(`${baseUrl}/api/websocket-voice/token`, { method: 'POST', body: '{}' }),
    );
    expect(ended).toMatchObject({ code, stderr: expect.stringMatching(said) });
  });

  test.each<[string, (one: Addresses, other: Addresses) => { flags: string[]; config?: string }, string[]]>([
    [
      'at --target-ws, and requests tokens from --target',
      (one, other) => ({ flags: ['--target', one.baseUrl, '--target-ws', other.wsUrl] }),
      ['other'],
    ],
    [
      'at the targetWs of a config file that also names the target',
      (one, other) => ({ flags: [], config: `target: ${one.baseUrl}\ntargetWs: ${other.wsUrl}\n` }),
      ['other'],
    ],
    [
      'at the host of --target, if the config file names those of another service',
      (one, other) => ({
        flags: ['--target', one.baseUrl],
        config: `target: ${other.baseUrl}\ntargetWs: ${other.wsUrl}\n`,
      }),
      ['one'],
    ],
  ])('opens the streams %s', async (_where, given, streamsAt) => {
    const [one, other] = [await startEmulator(), await startEmulator()];
    const { flags, config = '{}' } = given(one, other);
    const file = join(newFolder(), 'config.yaml');
    writeFileSync(file, config);
    await runProxy(['--config', file, ...flags], async (baseUrl) => {
      await fetch(`${baseUrl}/api/websocket-voice/token`, {
        ...{ method: 'POST', headers: { 'Content-Type': 'application/json' } },
        body: JSON.stringify({ apiKey: 'a-key', deviceId: 'd1' }),
      });
      const device = openStream(baseUrl.replace(/^http/, 'ws'));
      await device.opened;
      device.socket.terminate();
    });
    const saw = (what: string) =>
      Object.entries({ one, other }).flatMap(([name, { events }]) =>
        events.filter(({ type }) => type === what).map(() => name),
      );
    expect(saw('token-issued')).toEqual(['one']);
    expect(saw('stream-opened')).toEqual(streamsAt);
  });
});

describe('voicectl exec --target', () => {
  test('runs a command through a proxy, reports violations, and fails on them with --fail-on', async () => {
    await using emulator = await createEmulator();
    const target = ['--target', emulator.baseUrl];
    const lenient = await runInProcess(['exec', ...target, '--', ...badDevice]);
    expect(lenient).toMatchObject({ code: 0, stderr: expect.stringContaining('device breaks D1') });
    const strict = await runInProcess(['exec', ...target, '--fail-on', 'violation', '--', ...badDevice]);
    expect(strict).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Found \d+ violations? \(--fail-on violation\)/),
    });
    const told = await runInProcess([
      'exec',
      '--json',
      ...target,
      '--fail-on',
      'violation',
      '--',
      ...badDevice,
    ]);
    expect(told.stdout + told.stderr).toContain('"kind":"violation"');
    const failing = await runInProcess(['exec', ...target, '--', process.execPath, '-e', 'process.exit(7)']);
    expect(failing).toMatchObject({ code: 7, stderr: '' });
  });

  test('records the streams of the command', async () => {
    await using emulator = await createEmulator();
    const record = newFolder();
    const program = join(import.meta.dirname, '..', '..', '..', 'bin', 'voicectl.js');
    const session = [
      process.execPath,
      program,
      'stream',
      '--file',
      'fixtures/hello.wav',
      '--pace',
      'max',
      '--wait',
      '0',
    ];
    await runInProcess(['exec', '--target', emulator.baseUrl, '--record', record, '--', ...session]);
    expect(readdirSync(record)).toHaveLength(1);
  });

  test('refuses flags of an emulator', async () => {
    const ended = await runInProcess([
      'exec',
      '--target',
      'http://127.0.0.1:1',
      '--reply',
      'echo',
      '--',
      'true',
    ]);
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--reply cannot be combined with --target: it applies to an emulator'),
    });
  });
});
