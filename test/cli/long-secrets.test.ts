import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { tokenPath } from '../../src/protocol/paths.ts';
import { hastyClock } from '../helpers/hasten.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { type MiniService, startMiniService } from '../helpers/mini-service.ts';
import type { Program } from '../helpers/said.ts';
import { spellings, spellingsIn } from '../helpers/spellings.ts';
import { fixture, type Sandbox, setUpSandbox } from '../helpers/voicectl.ts';

const key = Array.from({ length: 240 }, (_, at) =>
  createHash('sha256').update(`${at}`).digest('base64url'),
).join('');
const quick = ['--file', fixture('barge-in.wav'), '--pace', 'max', '--tail', '0', '--settle', '200ms'];

/** A service with long tokens (10.9 KB with `key`) that sends the key and token in every encoding, between backslashes. */
async function startEcho(sandbox: Sandbox, key: string): Promise<MiniService & { tokens: string[] }> {
  const tokens: string[] = [];
  const service = await startMiniService({
    claims: (claims) => ({ ...claims, pad: 'Q'.repeat(7_900), ...(key.length > 10_320 ? {} : { key }) }),
    token(token) {
      tokens.push(token);
      return token;
    },
    connected({ say, token }) {
      say({ type: 'service_voice_connected', path: 'C:\\a\\b' });
      for (const secret of [key, token])
        for (const write of Object.values(spellings)) say({ type: 'status', text: `\\ ${write(secret)} "` });
      say({ type: 'status', state: 'last' });
    },
  });
  sandbox.defer(() => service[Symbol.asyncDispose]());
  return Object.assign(service, { tokens });
}

/** Everything that a run has left in its folder. */
function filesOf(dir: string): string {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n');
}

/** Which secrets, in which spelling, are in what a run has printed or left in its folder. */
function secretsLeft(sandbox: Sandbox, tokens: readonly string[], printed: string, given = key): string[] {
  const text = `${printed}${filesOf(sandbox.dir)}`;
  const signatures = tokens.map((token) => token.split('.')[2] ?? '');
  return [given, ...signatures].flatMap((secret, at) =>
    spellingsIn(text, secret).map((name) => `${at} ${name}`),
  );
}

/** Letters and digits that are not the secret of another test. */
function secretOf(size: number): string {
  const text = Array.from({ length: Math.ceil(size / 43) }, (_, at) =>
    createHash('sha256').update(`${size} ${at}`).digest('base64url'),
  );
  return text.join('').replaceAll(/[-_]/g, 'x').slice(0, size);
}

/**
 * A device that leaks a secret wherever it can: as its key, as its name, in URLs and headers, in bad requests, in texts,
 * in its first message and in the reason of its close. Returns the tokens that it was given.
 */
async function giveAway(
  { baseUrl, wsUrl }: { baseUrl: string; wsUrl: string },
  secret: string,
  { key = secret, isName = false } = {},
) {
  const spelled = Object.values(spellings).map((write) => write(secret));
  // Anything longer is not accepted as a header or a name.
  const short = spelled.filter((text) => text.length < 250 && /^[\x20-\x7e]*$/.test(text));
  const ask = async (body: string, path = tokenPath(), headers: Record<string, string> = {}) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });
    return (await answer.json().catch(() => ({}))) as { token?: string };
  };
  const named = { apiKey: key, deviceId: 'lamp' };
  const tokens: string[] = [];
  const note = ({ token }: { token?: string }) => void (token !== undefined && tokens.push(token));
  note(await ask(JSON.stringify(named)));
  for (const text of short) {
    await ask(JSON.stringify({ ...named, ...(isName && { deviceId: `\\ ${text}` }), [text]: text }));
    await ask(`{"apiKey": "${text}`);
  }
  await ask(JSON.stringify({ ...named, apiKey: secret, voice: [secret] }));
  await ask(JSON.stringify(named), `/nowhere?apiKey=${encodeURIComponent(secret.slice(0, 2_000))}`);
  for (const first of [tokens[0], ...spelled]) {
    if (first === undefined) continue;
    const part = secret.slice(0, 2_000);
    const headers = {
      'X-Api-Key': part,
      Authorization: `Basic ${Buffer.from(`x:${part}`).toString('base64')}`,
    };
    const query = `token=${first === tokens[0] ? first.slice(-2_000) : part}&apiKey=${part}`;
    const socket = new WebSocket(`${wsUrl}/voice-stream?${query}`, { headers });
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const heard = new Promise((resolve) => socket.once('message', resolve));
    await Promise.race([once(socket, 'open').catch(() => {}), closed]);
    if (socket.readyState !== WebSocket.OPEN) continue;
    socket.send(first);
    await Promise.race([heard, closed]);
    for (const text of spelled) if (socket.readyState === WebSocket.OPEN) socket.send(`\\ ${text} "`);
    if (socket.readyState === WebSocket.OPEN) socket.close(4000, secret.length < 120 ? `C:\\${secret}` : '');
    await closed;
  }
  return tokens;
}

/** Runs a command on the moved clock of its service; files are given by absolute paths. */
const runAt = (sandbox: Sandbox, baseUrl: string, args: readonly string[], given: string) => {
  const files = args.map((arg) =>
    /^(?:kept|j\.xml|page\.html|dialect\.yaml)$/.test(arg) ? sandbox.path(arg) : arg,
  );
  const options = { clock: hastyClock, env: { VOICECTL_API_KEY: given } };
  return runInProcess([...files, '--base-url', baseUrl], options);
};

describe('a key of 10 KB and a token with it, in every encoding, are in no output of', () => {
  const sandbox = setUpSandbox();

  test.each([
    ['stream', ...quick, '-v', '--debug', '--output', 'plain'],
    ['check', '--max-requests', '20', '--json', '--junit', 'j.xml', '--html', 'page.html', '--wait', '1s'],
    ['check', '--rule', 'R1', '--rule', 'R34', '-v', '--debug', '--wait', '1s'],
    ['learn', '--max-requests', '8', '--out', 'dialect.yaml', '--wait', '1s'],
    [
      'load',
      '--sessions',
      '1',
      '--processes',
      'none',
      '--file',
      fixture('barge-in.wav'),
      '--wait',
      '1s',
      '--json',
    ],
  ])('%s %s %s %s %s %s %s', { timeout: 120_000 }, async (...args) => {
    const { baseUrl, tokens } = await startEcho(sandbox, key);
    const ended = await runAt(sandbox, baseUrl, args, key);
    // It ended by itself. The emulator of `learn` does not accept such a token: 2.
    expect([0, 1, 2, 9], ended.stderr.slice(0, 2_000)).toContain(ended.code);
    expect(tokens.length).toBeGreaterThan(0);
    expect(secretsLeft(sandbox, tokens, ended.stdout + ended.stderr)).toEqual([]);
  });
});

describe('a key of any size, in every encoding between backslashes, is in no output of', () => {
  const sandbox = setUpSandbox();
  const curl = ['token', '--curl'];
  const token = ['token', '-v', '--debug'];
  const stream = ['stream', ...quick, '--record', 'kept', '--junit', 'j.xml', '--json'];
  const said = ['--file', fixture('barge-in.wav'), '--wait', '1s', '--json'];
  // Each command runs with the smallest; with the largest, one that reads a whole stream and one that does not. Above, the
  // others have a long one.
  test.each<[size: number, args: string[]]>([
    [6, token],
    [6, curl],
    [6, stream],
    [6, ['check', '--rule', 'R1', '--rule', 'R34', '--json', '--junit', 'j.xml', '--wait', '1s']],
    [6, ['learn', '--max-requests', '8', '--out', 'dialect.yaml', '--wait', '1s']],
    [6, ['load', '--sessions', '1', '--processes', 'none', ...said]],
    [65_536, token],
    [65_536, curl],
    [65_536, stream],
    [65_536, ['doctor', '--json']],
  ])('%i bytes: %j', { timeout: 120_000 }, async (size, args) => {
    const given = secretOf(size);
    const { baseUrl, tokens } = await startEcho(sandbox, given);
    const ended = await runAt(sandbox, baseUrl, args, given);
    expect([0, 1, 2, 3, 9], ended.stderr.slice(0, 2_000)).toContain(ended.code);
    // `token` prints the token, into which this service has written the key.
    const printed = args[0] === 'token' ? ended.stderr : ended.stdout + ended.stderr;
    const signatures = args[0] === 'token' ? [] : tokens;
    expect(secretsLeft(sandbox, signatures, printed, given)).toEqual([]);
  });
});

// Above, a key has the maximum length. Of these, the longest spellings take several reads of a socket.
describe.each([6, 16_384])(
  'a key of %i bytes that a device leaks in every way is in no output of',
  (size) => {
    const sandbox = setUpSandbox();
    const given = secretOf(size);
    /** An emulator accepts keys of up to 256 characters. */
    const other = 'another-key-of-the-device';
    const asked = size > 256 ? { key: other } : {};
    const loud = ['--port', '0', '-v', '--debug', '--json'];
    const listening = async (program: Program) =>
      JSON.parse(await program.line(/"type":"listening"/)) as { baseUrl: string; wsUrl: string };
    /** Beside the folder that is searched. */
    const keyFile = (text: string) => {
      const folder = mkdtempSync(join(tmpdir(), 'voicectl-key-'));
      sandbox.defer(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, 'key'), text, { mode: 0o600 });
      return join(folder, 'key');
    };
    const expectNothing = async (program: Program, tokens: readonly string[], ...more: string[]) => {
      program.signal('SIGTERM');
      const { code, stdout, stderr } = await program.ended;
      expect(code, stderr.slice(0, 2_000)).toBe(0);
      expect(stdout).toContain('"type":"stream-closed"');
      expect(secretsLeft(sandbox, tokens, [stdout, stderr, ...more].join('\n'), given)).toEqual([]);
    };

    test('serve, nor in its journal', { timeout: 60_000 }, async () => {
      const file = keyFile(given);
      const serve = await sandbox.startHere([
        'serve',
        '--accept-key-file',
        file,
        '--accept-key',
        other,
        ...loud,
      ]);
      const at = await listening(serve);
      const tokens = await giveAway(at, given, asked);
      const journal = await runInProcess([
        'emulator',
        'journal',
        '--json',
        '--debug',
        '--base-url',
        at.baseUrl,
      ]);
      const state = await runInProcess(['emulator', 'state', '--json', '--debug', '--base-url', at.baseUrl]);
      await expectNothing(serve, tokens, journal.stdout, state.stdout);
    });

    test('proxy, nor in its recordings, their HAR and their page', { timeout: 120_000 }, async () => {
      const target = await startEcho(sandbox, given);
      const kept = sandbox.path('kept');
      const proxy = await sandbox.startHere(['proxy', '--target', target.baseUrl, '--record', kept, ...loud]);
      const tokens = await giveAway(await listening(proxy), given, { isName: true });
      expect(tokens).toHaveLength(1);
      proxy.signal('SIGTERM');
      await proxy.ended;
      const [folder = ''] = readdirSync(kept);
      const exports = ['--har', sandbox.path('out.har'), '--html', sandbox.path('out.html')];
      const inspected = await runInProcess(['inspect', join(kept, folder), ...exports]);
      expect(inspected.code, inspected.stderr).toBe(0);
      expect(sandbox.read('out.har')).toContain('?token=[redacted]&apiKey=[redacted]');
      await expectNothing(proxy, target.tokens, inspected.stdout, inspected.stderr);
    });

    test('replay of a session with it', { timeout: 60_000 }, async () => {
      const { baseUrl } = await startEcho(sandbox, given);
      const kept = sandbox.path('kept');
      const options = { clock: hastyClock, env: { VOICECTL_API_KEY: given } };
      await runInProcess(['stream', ...quick, '--record', kept, '--base-url', baseUrl, '-q'], options);
      const accepted = ['--accept-key-file', keyFile(given), '--accept-key', other];
      const replay = await sandbox.startHere(['replay', kept, ...accepted, ...loud]);
      const tokens = await giveAway(await listening(replay), given, asked);
      await expectNothing(replay, tokens);
    });

    test.each([[[]], [['--json']]])('drill %j, nor in its report', { timeout: 60_000 }, async (form) => {
      const drill = await sandbox.startHere([
        ...['drill', '--port', '0', '--device', 'lamp', '--situation', 'D1', '--situation', 'D2'],
        ...['--junit', sandbox.path('j.xml'), '-v', '--debug', ...form],
      ]);
      const baseUrl = (await drill.line(/^Base URL/)).split(/\s+/)[2] ?? '';
      const tokens = await giveAway({ baseUrl, wsUrl: baseUrl.replace('http', 'ws') }, given, asked);
      drill.signal('SIGTERM');
      const { code, stdout, stderr } = await drill.ended;
      expect([0, 1, 143]).toContain(code);
      expect(stdout).toContain('D1');
      expect(secretsLeft(sandbox, tokens, `${stdout}${stderr}`, given)).toEqual([]);
    });

    test('exec -v, whose command leaks it', { timeout: 60_000 }, async () => {
      const { baseUrl, tokens } = await startEcho(sandbox, given);
      const says = `const key = process.env.VOICECTL_API_KEY; const base = process.env.VOICECTL_BASE_URL;
      const ask = (path, body) => fetch(base + path, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
      await ask('${tokenPath()}', JSON.stringify({ apiKey: key, deviceId: 'lamp' }));
      await ask('${tokenPath()}', JSON.stringify({ apiKey: key, deviceId: key.length < 200 ? key : '', more: '\\\\ ' + key }));
      await ask('/nowhere?apiKey=' + key.slice(0, 2000), '{"x": "' + key);`;
      const command = ['--', process.execPath, '--input-type=module', '-e', says];
      // The emulator of `exec` accepts no long key.
      for (const target of size > 256 ? [['--target', baseUrl]] : [[], ['--target', baseUrl]]) {
        const program = await sandbox.startHere(['exec', ...target, '-v', '--debug', ...command], {
          env: { VOICECTL_API_KEY: given, PATH: process.env.PATH ?? '' },
        });
        const { code, stdout, stderr } = await program.ended;
        expect({ code, stderr: stderr.slice(0, 500) }).toMatchObject({ code: 0 });
        expect(stderr).toContain('nowhere');
        expect(secretsLeft(sandbox, tokens, stdout + stderr, given)).toEqual([]);
      }
    });
  },
);

describe('the size of a secret', () => {
  const sandbox = setUpSandbox();
  const long = 'k'.repeat(1024 * 1024);

  test.each([
    ['token', ['--api-key-file', 'given']],
    ['stream', ['--file', fixture('barge-in.wav'), '--api-key-file', 'given']],
    ['stream', ['--file', fixture('barge-in.wav'), '--token-from', 'given']],
    ['check', ['--api-key-file', 'given']],
    ['learn', ['--api-key-file', 'given', '--out', 'x.yaml']],
    ['load', ['--api-key-file', 'given']],
    ['serve', ['--port', '0', '--accept-key-file', 'given']],
    ['serve', ['--port', '0', '--control-secret-file', 'given']],
    ['emulator', ['state', '--control-secret-file', 'given']],
    ['replay', ['kept', '--port', '0', '--accept-key-file', 'given']],
    ['proxy', ['--target', 'http://127.0.0.1:9', '--control-secret-file', 'given']],
  ])('%s refuses one of 1 MiB: %j', async (command, flags) => {
    sandbox.write('given', long);
    const ended = await sandbox.runHere([command, ...flags]);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('is longer than 64 KiB') });
    expect(`${ended.stdout}${ended.stderr}`).not.toContain('kkkkkkkk');
  });

  test('64 KiB is accepted, and five characters cause a warning', async () => {
    const { baseUrl } = await sandbox.serveHere([]);
    sandbox.write('given', 'k'.repeat(64 * 1024));
    const refused = await sandbox.runHere(['token', '--api-key-file', 'given', '--base-url', baseUrl]);
    // The emulator accepts keys of up to 256 characters.
    expect(refused.code).toBe(3);
    sandbox.write('given', 'short');
    const ended = await sandbox.runHere(['token', '--api-key-file', 'given', '--base-url', baseUrl, '-q']);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toBe(
      'The API key is shorter than 6 characters: it is not removed from output, reports and recordings\n',
    );
  });

  test.each(['?token=canary', '#canary', '/x?canary'])(
    'a target with %s is refused and not shown',
    async (tail) => {
      const target = `https://127.0.0.1${tail}`;
      const ended = await sandbox.runHere(['proxy', '--target', target, '--json', '--debug']);
      expect(ended.code).toBe(2);
      expect(`${ended.stdout}${ended.stderr}`).not.toContain('canary');
    },
  );
});
