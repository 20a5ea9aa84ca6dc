import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEchoOfKeys } from '../helpers/echo-of-keys.ts';
import { refuse, startTokenStub } from '../helpers/token-stub.ts';
import { type Ended, fixture, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const key = 'canary-5f1c77e0a9';
const file = fixture('barge-in.wav');
const quick = ['--file', file, '--pace', 'max', '--tail', '0', '--settle', '200ms'];

/** Everything that a run has left in its folder, but for what we have put there. */
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
    const serve = await sandbox.serve(['--accept-key', key, '--ready-file', ready, '-v', '--reply', 'echo']);
    const ended = await sandbox.run([...args, '--base-url', serve.baseUrl], { env });
    expect(ended.code).toBe(0);
    serve.signal('SIGTERM');
    expectNone([key], ended);
    expectNone([key], await serve.ended);
  });

  test('of a refusal, not even where the service says it back', async () => {
    const answer = refuse(401, 'NO', `The key ${key} is not known`);
    const { baseUrl } = await startTokenStub(sandbox, answer);
    for (const flags of [['--json'], ['-v', '--debug']]) {
      const ended = await sandbox.run(['token', ...flags, '--base-url', baseUrl], { env });
      expect(ended.stderr).toContain('The key [redacted] is not known');
      expectNone([key], ended);
    }
  });

  test('of a rate limit that is waited out, and said with the key', async () => {
    const answer = refuse(429, 'SLOW', `Too many requests of ${key}`);
    const { baseUrl } = await startTokenStub(sandbox, answer);
    const args = ['token', '-v', '--retries', '1', '--base-url', baseUrl];
    const ended = await sandbox.run(args, { env });
    expect(ended.stderr).toContain('Too many requests of [redacted]; again in');
    expectNone([key], ended);
  });

  test('of a session whose service says it back at every turn, nor of its reports', async () => {
    const { baseUrl } = await startEchoOfKeys(sandbox);
    const reports = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: sandbox.path('summary.md') };
    for (const flags of [['--json'], ['-v', '--debug', '--output', 'plain']]) {
      const args = ['stream', ...quick, '--base-url', baseUrl, '--junit', 'junit.xml', ...flags];
      const ended = await sandbox.run(args, { env: { ...env, ...reports } });
      expect(ended.code).toBe(6);
      expect(ended.stdout).toContain('[redacted]');
      expect(sandbox.read('junit.xml')).toContain('gone with [redacted]');
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
    const ended = await sandbox.run(['token', ...flags, '--debug', '--json'], { input: key });
    expect(ended.code).not.toBe(0);
    expectNone([key], ended);
  });

  test.each([
    ['a list', `apiKey: [${key}]\n`],
    ['broken YAML', `apiKey: ${key}\n  x: [\n`],
    ['an unknown setting', `apiKey: ${key}\nwhat: 1\n`],
    ['a profile that is not there', `apiKey: ${key}\nprofile: p\n`],
  ])('of an error in a config file with the key: %s', async (_what, content) => {
    sandbox.write('given.yaml', content, 0o600);
    const ended = await sandbox.run(['token', '--local', '--config', 'given.yaml', '--debug', '--json']);
    expect(ended.code).toBe(2);
    expectNone([key], ended);
  });

  test('of an error of serve', async () => {
    sandbox.write('given.yaml', `acceptKey: [[${key}]]\n`, 0o600);
    for (const flags of [
      ['--accept-key', key, '--reply', 'what'],
      ['--config', 'given.yaml'],
    ]) {
      const ended = await sandbox.run(['serve', '--port', '0', '--json', '--debug', ...flags]);
      expect(ended.code).toBe(2);
      expectNone([key], ended);
    }
  });
});

describe('a token is in no output and no file but what token prints', () => {
  test.each([
    ['plain', []],
    ['JSON', ['--json']],
  ])('of stream, accepted or refused, in %s lines', async (_form, flags) => {
    const serve = await sandbox.serve(['--reply', 'echo', '-v']);
    const { stdout } = await sandbox.run(['token', '--device', 'd1', '--base-url', serve.baseUrl]);
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
    const accepted = await sandbox.run(args, { env: { T: token } });
    expect(accepted.code).toBe(0);
    expectNone(secrets, accepted);
    const refused = await sandbox.run(args, { env: { T: token } });
    expect(refused.code).toBe(3);
    expectNone(secrets, refused);
    serve.signal('SIGTERM');
    expectNone(secrets, await serve.ended);
  });

  test('of exec -v', async () => {
    const ended = await sandbox.run(['exec', '-v', '--', 'sh', '-c', 'voicectl token > given-token']);
    expect(ended.code).toBe(0);
    expectNone([sandbox.read('given-token').trimEnd()], ended);
  });
});
