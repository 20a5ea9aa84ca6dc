import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEchoOfKeys } from '../helpers/echo-of-keys.ts';
import { refuse, startTokenStub } from '../helpers/token-stub.ts';
import { type Ended, fixture, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const key = 'canary-5f1c77e0a9';
const file = fixture('barge-in.wav');
const quick = ['--file', file, '--pace', 'max', '--tail', '0', '--settle', '200ms'];

/** Everything that a run has left in its folder, except what the test has put there. */
function filesOf(dir: string): string {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile() && !entry.name.startsWith('given'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

function expectNone(secrets: readonly string[], { stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>) {
  const left = filesOf(sandbox.dir);
  for (const secret of secrets) for (const text of [stdout, stderr, left]) expect(text).not.toContain(secret);
}

describe('a key is in no output and no file', () => {
  const env = { VOICECTL_API_KEY: key };

  test.each([
    ['token -v', ['token', '-v', '--debug']],
    ['token --json', ['token', '--json']],
    ['token --curl', ['token', '--curl', '-v']],
    ['stream', ['stream', ...quick, '-v', '--out', 'o.wav', '--debug']],
    ['stream --json', ['stream', ...quick, '-v', '--json', '--out', 'o.wav']],
  ])('of %s, nor of serve', async (_what, args) => {
    const ready = sandbox.path('ready.json');
    const serve = await sandbox.serveHere([
      '--accept-key',
      key,
      '--ready-file',
      ready,
      '-v',
      '--reply',
      'echo',
    ]);
    const ended = await sandbox.runHere([...args, '--base-url', serve.baseUrl], { env });
    expect(ended.code).toBe(0);
    serve.signal('SIGTERM');
    expectNone([key], ended);
    expectNone([key], await serve.ended);
  });

  test('of a refusal, not even if the service repeats it', async () => {
    const answer = refuse(401, 'NO', `The key ${key} is not known`);
    const { baseUrl } = await startTokenStub(sandbox, answer);
    for (const flags of [['--json'], ['-v', '--debug']]) {
      const ended = await sandbox.runHere(['token', ...flags, '--base-url', baseUrl], { env });
      expect(ended.stderr).toContain('The key [redacted] is not known');
      expectNone([key], ended);
    }
  });

  test('of a rate limit that is waited out, and whose message contains the key', async () => {
    const answer = refuse(429, 'SLOW', `Too many requests of ${key}`);
    const { baseUrl } = await startTokenStub(sandbox, answer);
    const args = ['token', '-v', '--retries', '1', '--base-url', baseUrl];
    const ended = await sandbox.runHere(args, { env });
    expect(ended.stderr).toContain('Too many requests of [redacted]; retrying in');
    expectNone([key], ended);
  });

  test('of a session whose service repeats it at every turn, nor in its reports', async () => {
    const { baseUrl } = await startEchoOfKeys(sandbox);
    const reports = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: sandbox.path('summary.md') };
    for (const flags of [['--json'], ['-v', '--debug', '--output', 'plain']]) {
      const args = ['stream', ...quick, '--base-url', baseUrl, '--junit', 'junit.xml', ...flags];
      const ended = await sandbox.runHere(args, { env: { ...env, ...reports } });
      expect(ended.code).toBe(6);
      expect(ended.stdout).toContain('[redacted]');
      // Markdown has its brackets escaped.
      for (const report of ['junit.xml', 'summary.md'])
        expect(sandbox.read(report).replaceAll('\\', '')).toContain('gone with [redacted]');
      expectNone([key], ended);
    }
  });

  test.each([
    ['a flag', ['--api-key', key, '--retries', 'x']],
    ['a flag that is refused', ['--api-key', key, '--base-url', 'https://0.0.0.0:9']],
    ['a key file', ['--api-key-file', 'given.txt', '--base-url', 'http://0.0.0.0:9']],
    ['standard input', ['--api-key-file', '-', '--base-url', 'http://127.0.0.1:9', '--retries', '0']],
  ])('of an error with the key from %s', async (_what, flags) => {
    sandbox.write('given.txt', key);
    const ended = await sandbox.runHere(['token', ...flags, '--debug', '--json'], { input: key });
    expect(ended.code).not.toBe(0);
    expectNone([key], ended);
  });

  test.each([
    ['a list', `apiKey: [${key}]\n`],
    ['broken YAML', `apiKey: ${key}\n  x: [\n`],
    ['an unknown tag', `apiKey: !vault ${key}\n`],
    ['a tag with the key in it', `apiKey: !${key} x\n`],
    ['an unknown alias', `apiKey: *${key}\n`],
    ['a circular alias', `apiKey: &a [*a, ${key}]\n`],
    ['a key that is a list', `? [${key}]\n: 1\n`],
    ['a duplicate key', `${key}: 1\n${key}: 2\n`],
    ['an unterminated quote', `apiKey: "${key}\n`],
    ['a directive', `%${key} 1\n---\napiKey: [${key}]\n`],
    ['two documents', `apiKey: ${key}\n---\napiKey: ${key}\n`],
    ['only the key', key],
    ['an unknown setting', `apiKey: ${key}\nwhat: 1\n`],
    ['a missing profile', `apiKey: ${key}\nprofile: p\n`],
  ])('of an error in a config file with the key: %s', async (_what, content) => {
    sandbox.write('given.yaml', content, 0o600);
    const ended = await sandbox.runHere(['token', '--local', '--config', 'given.yaml', '--debug', '--json']);
    expect(ended.code).toBe(2);
    expectNone([key], ended);
  });

  test('of an error of serve', async () => {
    sandbox.write('given.yaml', `acceptKey: [[${key}]]\n`, 0o600);
    for (const flags of [
      ['--accept-key', key, '--reply', 'what'],
      ['--config', 'given.yaml'],
    ]) {
      const ended = await sandbox.runHere(['serve', '--port', '0', '--json', '--debug', ...flags]);
      expect(ended.code).toBe(2);
      expectNone([key], ended);
    }
  });
});

describe('the secret of the control API is in no output', () => {
  const said = `you sent Bearer ${key}`;
  const spelled = `you sent Bearer \\u0063${key.slice(1)}`;
  const json = (value: unknown) => JSON.stringify(value);

  /** Answers everything in the same way, whoever asks. */
  async function startTalker(status: number, body: string, type = 'application/json') {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'Content-Type': type }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    sandbox.defer(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test.each([
    ['refuses', 401, json({ error: { code: 'NO', message: said } })],
    ['refuses with its spelling', 400, `{"error":{"code":"NO","message":"${spelled}"}}`],
    ['answers without JSON', 200, said],
    ['answers another shape', 200, json({ [key]: said })],
    ['answers a journal', 200, json([{ t: 1, type: said, device: said }])],
    ['answers a clock', 200, json({ now: said, aheadMs: 1 })],
  ])('of emulator commands to whoever %s', async (_what, status, body) => {
    const baseUrl = await startTalker(status, body);
    const env = { VOICECTL_CONTROL_SECRET: key };
    const runs = ['state', 'journal', 'clock', 'reset'].flatMap((command) =>
      [[], ['--json'], ['--debug']].map((flags) =>
        sandbox.runHere(['emulator', command, '--base-url', baseUrl, ...flags], { env }),
      ),
    );
    for (const ended of await Promise.all(runs)) expectNone([key], ended);
  });

  test('of a journal that is followed', async () => {
    for (const data of [json({ seq: 1, t: 1, type: 'log', message: said }), said]) {
      const baseUrl = await startTalker(200, `data: ${data}\n\n`, 'text/event-stream');
      const args = ['emulator', 'journal', '--follow', '--base-url', baseUrl, '--json', '--debug'];
      const ended = await sandbox.runHere(args, { env: { VOICECTL_CONTROL_SECRET: key } });
      expect(ended.code).toBe(data === said ? 6 : 0);
      expectNone([key], ended);
    }
  });
});

describe('a token is in no output and no file but what token prints', () => {
  test.each([
    ['plain', []],
    ['JSON', ['--json']],
  ])('of stream, accepted or refused, in %s lines', async (_form, flags) => {
    const serve = await sandbox.serveHere(['--reply', 'echo', '-v']);
    const { stdout } = await sandbox.runHere(['token', '--device', 'd1', '--base-url', serve.baseUrl]);
    const token = stdout.trimEnd();
    const args = [
      'stream',
      ...quick,
      '--base-url',
      serve.baseUrl,
      '--token-from',
      'T',
      '-v',
      '--debug',
      '--out',
      'o.wav',
      ...flags,
    ];
    const secrets = [token, token.split('.')[2] ?? ''];
    const accepted = await sandbox.runHere(args, { env: { T: token } });
    expect(accepted.code).toBe(0);
    expectNone(secrets, accepted);
    const refused = await sandbox.runHere(args, { env: { T: token } });
    expect(refused.code).toBe(3);
    expectNone(secrets, refused);
    serve.signal('SIGTERM');
    expectNone(secrets, await serve.ended);
  });

  test.each([
    ['as firmware writes it', '{ "alg": "HS256" }'],
    ['on lines', '{\n"alg":"HS256"}'],
    ['longer than a name may be', `{"alg":"HS256","x":"${'x'.repeat(400)}"}`],
  ])('of stream that is given it instead of its name, %s', async (_what, header) => {
    const part = (text: string) => Buffer.from(text).toString('base64url');
    const token = `${part(header)}.${part('{"sub":"d1"}')}.c2lnbmF0dXJlLWNhbmFyeQ`;
    const ended = await sandbox.runHere([
      'stream',
      ...quick,
      '--local',
      '--token-from',
      token,
      '--json',
      '--debug',
    ]);
    expect(ended.code).toBe(2);
    expectNone([token, 'c2lnbmF0dXJlLWNhbmFyeQ', part(header)], ended);
  });

  test('of exec -v', async () => {
    await sandbox.standIn();
    const env = { PATH: `${sandbox.path('bin')}:${process.env.PATH}` };
    const command = ['sh', '-c', 'voicectl token > given-token'];
    const ended = await sandbox.runHere(['exec', '-v', '--', ...command], { env });
    expect(ended.code).toBe(0);
    expectNone([sandbox.read('given-token').trimEnd()], ended);
  });
});
