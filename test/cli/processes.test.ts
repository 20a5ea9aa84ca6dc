import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { runInProcess } from '../helpers/in-process.ts';
import { hasRedis, setUpRedis } from '../helpers/redis.ts';
import { type Running, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

test('--processes without --shared is refused, and so is an invalid number', async () => {
  const alone = await runInProcess(['serve', '--processes', '2']);
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('--processes needs --shared') });
  const none = await runInProcess(['serve', '--processes', '0', '--shared', 'redis://127.0.0.1:1']);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('auto or a whole number') });
});

test.each([
  ['http://user:open-sesame@127.0.0.1', 2, 'VOICECTL_SHARED: the value is not valid: expected redis://'],
  ['redis://user:12/open-sesame@127.0.0.1', 2, 'VOICECTL_SHARED: the value is not valid: expected redis://'],
  ['redis://user:12#open-sesame@127.0.0.1', 2, 'VOICECTL_SHARED: the value is not valid: expected redis://'],
  ['redis://user:open-sesame%zz@127.0.0.1', 2, 'VOICECTL_SHARED: the value is not valid: expected redis://'],
  [
    'redis://user:open-sesame@127.0.0.1:1',
    4,
    'Cannot use Redis at redis://127.0.0.1:1: connect ECONNREFUSED',
  ],
])('a Redis that cannot be used is reported without its password: %s', async (url, code, text) => {
  const ended = await runInProcess(['serve', '--port', '0', '--debug'], { env: { VOICECTL_SHARED: url } });
  expect(ended).toMatchObject({ code, stderr: expect.stringContaining(text) });
  expect(ended.stdout + ended.stderr).not.toContain('sesame');
});

describe.skipIf(!hasRedis)('several processes on one port', () => {
  const redis = setUpRedis();

  const token = async (baseUrl: string) => {
    // A separate connection: each one reaches the next process.
    const trust = ['--cacert', sandbox.path('cert.pem')];
    const curl = [
      '-s',
      ...trust,
      '-H',
      'Content-Type: application/json',
      '-d',
      '{"apiKey":"k","deviceId":"d"}',
    ];
    const answer = execFileSync('curl', [...curl, `${baseUrl}/api/websocket-voice/token`]).toString();
    expect(JSON.parse(answer)).toHaveProperty('token');
  };
  const events = (running: Running) =>
    running.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; instance?: string; remaining?: number });

  test('are one service with one log and one certificate, replace one that ends, and end together', async () => {
    const { url } = await redis();
    const env = { VOICECTL_SHARED: url };
    const flags = ['--processes', '2', '--tls', '--cert-out', sandbox.path('cert.pem')];
    const running = await sandbox.serve(flags, { env });
    const { baseUrl, child } = running;
    for (let at = 0; at < 4; at += 1) await token(baseUrl);
    await running.line(/"remaining":56/);
    const issued = events(running).filter(({ type }) => type === 'token-issued');
    expect(issued.map(({ remaining }) => remaining)).toEqual([59, 58, 57, 56]);
    expect(new Set(issued.map(({ instance }) => instance)).size).toBe(2);
    expect(events(running).filter(({ type }) => type === 'listening')).toHaveLength(1);

    const children = () =>
      execFileSync('pgrep', ['-P', String(child.pid)])
        .toString()
        .trim()
        .split('\n');
    const [first = ''] = children();
    process.kill(Number(first), 'SIGKILL');
    await running.line(/"shared-warning".*SIGKILL/);
    await token(baseUrl);
    await expect.poll(() => children().filter((pid) => pid !== first), { timeout: 60_000 }).toHaveLength(2);

    running.signal('SIGTERM');
    expect((await running.ended).code).toBe(0);
    expect(events(running).filter(({ type }) => type === 'stopping')).toHaveLength(1);
  });

  test('report why they cannot start', async () => {
    const { url } = await redis();
    const env = { VOICECTL_SHARED: url };
    await sandbox.serveHere(['--shared-prefix', 'strict'], { env });
    const flags = ['--port', '0', '--processes', '2', '--shared-prefix', 'strict', '--rate-limit', '5'];
    const ended = await sandbox.run(['serve', ...flags], { env });
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('rateLimit is 60 there and 5 here'),
    });
  });
});
