import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { hasForeignService, startForeignService } from '../helpers/foreign-service.ts';
import { grant, refuse, startTokenStub } from '../helpers/token-stub.ts';
import { jsonLines, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const message = /^voicectl: .+\n( {2}.+\n){0,2}$/;
const jwt = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

describe('what token prints', () => {
  test('the token and a newline, and nothing else', async () => {
    const { code, stdout, stderr } = await sandbox.runHere(['token', '--local']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+\n$/);
  });

  test('TOKEN=$(voicectl token) works in a script', async () => {
    const { baseUrl } = await sandbox.serveHere();
    const script = `TOKEN=$(voicectl token --device d1 --base-url ${baseUrl}) && printf '[%s]' "$TOKEN"`;
    const { stdout } = await sandbox.shell(script);
    expect(stdout.slice(1, -1)).toMatch(jwt);
  });

  test('with -v the claims, the rate limit and the timing, on standard error', async () => {
    const { stdout, stderr } = await sandbox.runHere(['token', '--local', '-v', '--device', 'd1']);
    expect(stdout.trimEnd()).toMatch(jwt);
    expect(stderr).toMatch(
      /^claims {2}\{"sub":"d1",.*\}\nlimit {3}59 of 60 left, resets \S+Z\nstatus {2}200, .* ms.*\n$/,
    );
    expect(stderr).not.toContain(stdout.trimEnd());
  });

  test('on a terminal the same even without -v', async () => {
    const { stdout } = await sandbox.shell(
      "timeout --foreground 20 script -qec 'voicectl token --local' /dev/null",
    );
    expect(stdout).toMatch(/^eyJ\S+\r\nclaims {2}\{.*\r\nlimit {3}.*\r\nstatus {2}/);
  });

  test('with --json one object with exactly the fields of the contract', async () => {
    const { code, stdout, stderr } = await sandbox.runHere(['token', '--local', '--json', '--device', 'd1']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [object, ...others] = jsonLines(stdout);
    expect(others).toEqual([]);
    expect(Object.keys(object ?? {})).toEqual([
      'version',
      'token',
      'header',
      'claims',
      'rateLimit',
      'status',
      'headers',
      'timing',
    ]);
    const { iat = 0, ...claims } = (object as { claims: Record<string, number> }).claims;
    expect(object).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      token: expect.stringMatching(jwt),
      header: { typ: 'JWT', alg: 'HS256' },
      status: 200,
      headers: expect.objectContaining({ 'x-ratelimit-limit': '60' }),
      timing: { attempts: 1, firstByteMs: expect.any(Number), totalMs: expect.any(Number) },
    });
    expect(claims).toMatchObject({ sub: 'd1', aud: 'voice-api', exp: iat + 60 });
    // In seconds since the epoch, as the service says it.
    const { headers } = object as unknown as { headers: Record<string, string> };
    const reset = Number(headers['x-ratelimit-reset']);
    expect(object?.rateLimit).toEqual({ limit: 60, remaining: 59, reset });
  });

  test('with --decode the header and claims as JSON, and no token', async () => {
    const { stdout, stderr } = await sandbox.runHere(['token', '--local', '--decode', '--device', 'd1']);
    expect(stderr).toBe('');
    const decoded = JSON.parse(stdout);
    expect(Object.keys(decoded)).toEqual(['header', 'claims']);
    expect(decoded.claims.sub).toBe('d1');
    const asJson = await sandbox.runHere(['token', '--local', '--decode', '--json', '--device', 'd1']);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ claims: { sub: 'd1' } });
    expect(asJson.stdout).not.toContain('"token"');
    expect(stdout).not.toContain('eyJ');
  });

  test('a token that is not a JWT is printed all the same, and cannot be decoded', async () => {
    const { baseUrl } = await startTokenStub(sandbox, grant('opaque-token-1'));
    expect(await sandbox.runHere(['token', '--base-url', baseUrl])).toMatchObject({
      code: 0,
      stdout: 'opaque-token-1\n',
    });
    expect(await sandbox.runHere(['token', '--base-url', baseUrl, '--decode'])).toMatchObject({
      code: 6,
      stdout: '',
      stderr: expect.stringContaining('The token is not a JWT'),
    });
    const { stdout } = await sandbox.runHere(['token', '--base-url', baseUrl, '--json']);
    expect(jsonLines(stdout)[0]).toMatchObject({
      header: null,
      claims: null,
      rateLimit: { limit: null, remaining: null, reset: null },
    });
  });

  test('a token with control characters is an error that does not show them', async () => {
    const { baseUrl } = await startTokenStub(sandbox, grant('t.o.k\u001b[2J\n'));
    const { code, stdout, stderr } = await sandbox.runHere(['token', '--base-url', baseUrl]);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('t.o.k');
  });

  test.each([['-v'], ['--json'], ['--decode'], ['--debug']])(
    'control sequences are shown escaped, with %s',
    async (flag) => {
      const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { sub: '\u001b]0;owned\u0007\u009b31m\u202e' };
      const { baseUrl } = await startTokenStub(
        sandbox,
        grant(`${part({ alg: 'none' })}.${part(claims)}.c2ln`),
      );
      const { stdout, stderr } = await sandbox.runHere(['token', '--base-url', baseUrl, flag]);
      expect(stdout + stderr).not.toMatch(/[\u001b\u0007\u009b\u202e]/);
      expect(stdout.split('\n').at(-1)).toBe('');
    },
  );

  test('the device is the flag’s, else the environment’s, else the name of the host', async () => {
    const { baseUrl } = await startTokenStub(sandbox, (response, body) =>
      grant(JSON.parse(body).deviceId)(response),
    );
    const env = { VOICECTL_DEVICE: 'from-env', VOICECTL_BASE_URL: baseUrl };
    expect((await sandbox.runHere(['token', '--device', 'from-flag'], { env })).stdout).toBe('from-flag\n');
    expect((await sandbox.runHere(['token'], { env })).stdout).toBe('from-env\n');
    expect((await sandbox.runHere(['token', '--base-url', baseUrl])).stdout).toBe(`voicectl-${hostname()}\n`);
  });

  test('--api-version takes the versioned path, and no other version', async () => {
    const { baseUrl, arrived } = await startTokenStub(sandbox, grant('t'));
    await sandbox.runHere(['token', '--base-url', `${baseUrl}/`]);
    await sandbox.runHere(['token', '--base-url', baseUrl, '--api-version', 'v1']);
    expect(arrived.map(({ path }) => path)).toEqual([
      '/api/websocket-voice/token',
      '/api/v1/websocket-voice/token',
    ]);
    expect((await sandbox.runHere(['token', '--base-url', baseUrl, '--api-version', 'v9'])).code).toBe(2);
  });
});

describe('--curl', () => {
  test('prints a command that works when the key is in the environment, and sends no request itself', async () => {
    const { baseUrl } = await sandbox.serveHere(['--accept-key', 'key-1']);
    const env = { VOICECTL_API_KEY: 'key-1', VOICECTL_BASE_URL: baseUrl };
    const device = `d'1 "$(touch owned)" \\ é`;
    const { stdout, stderr } = await sandbox.runHere(['token', '--curl', '--device', device], { env });
    expect(stderr).toBe('');
    expect(stdout).toContain('VOICECTL_API_KEY');
    expect(stdout).not.toContain('key-1');
    const curl = await sandbox.shell(stdout, { env });
    const { token } = JSON.parse(curl.stdout) as { token: string };
    expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub).toBe(device);
    expect((await sandbox.shell('ls owned')).code).not.toBe(0);
  });

  test('works against the local emulator with no key at all, and never shows one', async () => {
    const { baseUrl } = await sandbox.serveHere();
    const env = { VOICECTL_BASE_URL: baseUrl };
    const { stdout } = await sandbox.runHere(['token', '--curl', '--device', 'd1'], { env });
    expect(stdout).toContain('VOICECTL_API_KEY:-voicectl-development-key}');
    expect(JSON.parse((await sandbox.shell(stdout)).stdout)).toHaveProperty('token');
    const given = await sandbox.runHere(['token', '--curl', '--device', 'd1'], {
      env: { ...env, VOICECTL_API_KEY: 'key-1' },
    });
    expect(given.stdout).toBe(stdout);
  });

  test('prints no command for an emulator that ends with the command itself: exit 2', async () => {
    expect(await sandbox.runHere(['token', '--curl', '--local'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--local'),
    });
  });

  test.each([[['--json']], [['--output', 'json']]])(
    'is refused with %j: a command is not JSON',
    async (flags) => {
      const { code, stdout, stderr } = await sandbox.runHere(['token', '--curl', ...flags]);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining('--curl cannot be combined with --json: a command is not JSON'),
      });
      expect(jsonLines(stdout)).toEqual([expect.objectContaining({ type: 'error', exitCode: 2 })]);
    },
  );

  test('needs no service', async () => {
    const { code, stdout } = await sandbox.runHere([
      'token',
      '--curl',
      '--base-url',
      'https://voice.example.test/',
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("'https://voice.example.test/api/websocket-voice/token'");
    expect(stdout).toContain('"$VOICECTL_API_KEY"');
    expect(stdout).not.toContain('voicectl-development-key');
  });
});

describe('retries', () => {
  test.runIf(hasForeignService)(
    'after a rate limit the request is retried, but never sooner than Retry-After says',
    async () => {
      const { baseUrl, recorded } = await startForeignService(sandbox, ['--fail-first', '2']);
      const { code, stdout, stderr } = await sandbox.runHere(['token', '--base-url', baseUrl]);
      expect(code).toBe(0);
      expect(stdout.trimEnd()).toMatch(jwt);
      expect(stderr).toMatch(
        /^(.*rate limited \(status 429\): RATE_LIMITED: .*; retrying in \d\.\d s\n){2}$/,
      );
      const times = recorded()
        .filter(({ what }) => what === 'token-request')
        .map(({ t }) => t ?? 0);
      expect(times).toHaveLength(3);
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1);
      expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(1);
    },
  );

  test('after the retries, a rate limit is exit 5, with the service’s code and message', async () => {
    const { baseUrl, arrived } = await startTokenStub(
      sandbox,
      refuse(429, 'SLOW', 'Slow down', { 'Retry-After': '0' }),
    );
    const { code, stdout, stderr } = await sandbox.runHere([
      'token',
      '--base-url',
      baseUrl,
      '--retries',
      '1',
      '-q',
    ]);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toContain('SLOW: Slow down');
    expect(arrived).toHaveLength(2);
  });

  test.each([400, 401, 403, 404, 422, 500, 503])('a %i is not retried, and is exit 3', async (status) => {
    const { baseUrl, arrived } = await startTokenStub(sandbox, refuse(status, 'NO_WAY', 'Because'));
    const { code, stdout, stderr } = await sandbox.runHere(['token', '--base-url', baseUrl]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toContain(`status ${status}): NO_WAY: Because`);
    expect(arrived).toHaveLength(1);
  });

  test('a made-up key that is refused is mentioned first, and the user’s own key is not', async () => {
    const { baseUrl } = await startTokenStub(sandbox, refuse(401, 'NO_WAY', 'Because'));
    const args = ['token', '--base-url', baseUrl];
    const madeUp = await sandbox.runHere(args);
    expect(madeUp.stderr).toMatch(/^voicectl: No API key was set, and the service refuses the made-up one/);
    const own = await sandbox.runHere(args, { env: { VOICECTL_API_KEY: 'my-own-key' } });
    expect(own.stderr).toMatch(/^voicectl: Token request refused/);
  });

  test('a connection that is cut is retried', async () => {
    let count = 0;
    const { baseUrl } = await startTokenStub(sandbox, (response) => {
      count += 1;
      if (count === 1) response.destroy();
      else grant('t-2')(response);
    });
    const { code, stdout, stderr } = await sandbox.runHere(['token', '--base-url', baseUrl]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 't-2\n' });
    expect(stderr).toContain('retrying in');
  });

  test('a service that asks for an unreasonably long wait is given up on', async () => {
    const { baseUrl, arrived } = await startTokenStub(
      sandbox,
      refuse(429, 'SLOW', 'Slow', { 'Retry-After': '86400' }),
    );
    expect((await sandbox.runHere(['token', '--base-url', baseUrl])).code).toBe(5);
    expect(arrived).toHaveLength(1);
  });

  test('--timeout ends the waiting: exit 7', async () => {
    const { baseUrl } = await startTokenStub(sandbox, refuse(429, 'SLOW', 'Slow', { 'Retry-After': '60' }));
    const { code, stdout, stderr } = await sandbox.runHere([
      'token',
      '--base-url',
      baseUrl,
      '--timeout',
      '500ms',
      '-q',
    ]);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toBe(
      `voicectl: Timed out after 0.5 s, waiting for a token from ${baseUrl}\n  --timeout sets this limit.\n`,
    );
  });
});

describe('the key stays where it belongs', () => {
  const key = 'canary-key-9d2c';

  test.each([301, 302, 303, 307, 308])(
    'a redirect with %i is refused with exit 6, and nothing reaches the other address',
    async (status) => {
      const other = await startTokenStub(sandbox, grant('t'));
      const { baseUrl } = await startTokenStub(sandbox, (response) => {
        response.writeHead(status, { Location: `${other.baseUrl}/api/websocket-voice/token` }).end();
      });
      const { code, stdout, stderr } = await sandbox.runHere(['token', '--base-url', baseUrl], {
        env: { VOICECTL_API_KEY: key },
      });
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).toContain(`status ${status}`);
      expect(other.connections).toBe(0);
    },
  );

  // 0.0.0.0 does not look like a loopback address, but reaches a service on this machine.
  test.each([
    ['token', []],
    ['stream', ['--raw', '/dev/zero']],
  ])('%s never sends it over plain HTTP to another host', async (command, flags) => {
    const stub = await startTokenStub(sandbox, grant('t'));
    const { code, stdout, stderr } = await sandbox.runHere(
      [command, ...flags, '--base-url', `http://0.0.0.0:${stub.port}`],
      { env: { VOICECTL_API_KEY: key } },
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toContain('--allow-plaintext');
    expect(stub.connections).toBe(0);
  });

  test('nor if only the stream would be in the clear', async () => {
    const args = ['token', '--base-url', 'https://0.0.0.0:9', '--ws-url', 'ws://0.0.0.0:9'];
    const { code, stderr } = await sandbox.runHere(args, { env: { VOICECTL_API_KEY: key } });
    expect(code).toBe(2);
    expect(stderr).toContain('over plain WS');
  });

  test('--allow-plaintext overrides that', async () => {
    const stub = await startTokenStub(sandbox, grant('t'));
    const args = ['token', '--base-url', `http://0.0.0.0:${stub.port}`, '--allow-plaintext'];
    expect(await sandbox.runHere(args, { env: { VOICECTL_API_KEY: key } })).toMatchObject({
      code: 0,
      stdout: 't\n',
    });
    expect(JSON.parse(stub.arrived[0]?.body ?? '')).toMatchObject({ apiKey: key });
  });

  test('--api-key is refused for a target that is not loopback, and not shown', async () => {
    const stub = await startTokenStub(sandbox, grant('t'));
    const args = [
      'token',
      '--allow-plaintext',
      '--base-url',
      `http://0.0.0.0:${stub.port}`,
      '--api-key',
      key,
    ];
    const { code, stdout, stderr } = await sandbox.runHere(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('VOICECTL_API_KEY');
    expect(stderr).not.toContain(key);
    expect(stub.connections).toBe(0);
  });

  test('no key is made up for a target that is not loopback', async () => {
    const { code, stderr } = await sandbox.runHere(['token', '--base-url', 'https://0.0.0.0:9']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^voicectl: No API key\n {2}Set VOICECTL_API_KEY/);
  });
});

describe('where the key comes from', () => {
  async function keyOf(args: string[], options: { env?: Record<string, string>; input?: string } = {}) {
    const stub = await startTokenStub(sandbox, grant('t'));
    const { code, stderr } = await sandbox.runHere(['token', '--base-url', stub.baseUrl, ...args], options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return (JSON.parse(stub.arrived[0]?.body ?? '') as { apiKey: string }).apiKey;
  }

  test('each source overrides the next: flag, environment, profile, config file, default', async () => {
    const config = `apiKey: from-file\nprofiles:\n  p:\n    apiKey: from-profile\n`;
    const env = { VOICECTL_API_KEY: 'from-env' };
    expect(await keyOf([])).toBe('voicectl-development-key');
    sandbox.write('voicectl.config.yaml', config, 0o600);
    expect(await keyOf([])).toBe('from-file');
    expect(await keyOf(['--profile', 'p'])).toBe('from-profile');
    expect(await keyOf(['--profile', 'p'], { env })).toBe('from-env');
    expect(await keyOf(['--profile', 'p', '--api-key', 'from-flag'], { env })).toBe('from-flag');
    expect(await keyOf([], { env: { VOICECTL_PROFILE: 'p' } })).toBe('from-profile');
  });

  test('a key file named by a flag overrides the environment, and a profile’s key file overrides the config file’s key', async () => {
    sandbox.write('key.txt', ' from-key-file\r\n');
    expect(await keyOf(['--api-key-file', 'key.txt'], { env: { VOICECTL_API_KEY: 'from-env' } })).toBe(
      'from-key-file',
    );
    const config = `apiKey: from-file\nprofiles: { p: { apiKeyFile: ${sandbox.path('key.txt')} } }\n`;
    sandbox.write('voicectl.config.yaml', config, 0o600);
    expect(await keyOf(['--profile', 'p'])).toBe('from-key-file');
  });

  test('standard input', async () => {
    expect(await keyOf(['--api-key-file', '-'], { input: 'from-stdin\n' })).toBe('from-stdin');
  });

  test('the user’s own config file, if there is none in the working folder', async () => {
    await sandbox.shell(
      'mkdir -p "$XDG_CONFIG_HOME/voicectl" && echo "apiKey: own-key" > "$XDG_CONFIG_HOME/voicectl/config.yaml" && chmod 600 "$XDG_CONFIG_HOME/voicectl/config.yaml"',
    );
    expect(await keyOf([])).toBe('own-key');
    sandbox.write('voicectl.config.json', '{"apiKey":"key-here"}', 0o600);
    expect(await keyOf([])).toBe('key-here');
  });

  test.each([0o644, 0o640, 0o604, 0o660])(
    'a config file with a key and mode %o is refused, with how to fix it',
    async (mode) => {
      const file = sandbox.write('voicectl.config.yaml', 'apiKey: canary-key\n', mode);
      const { code, stdout, stderr } = await sandbox.runHere(['token', '--local']);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).toContain(`chmod 600 ${file}`);
      expect(stderr).not.toContain('canary-key');
    },
  );

  test('a config file without a key may be readable by all', async () => {
    sandbox.write('voicectl.config.yaml', 'device: d-file\n', 0o644);
    expect((await sandbox.runHere(['token', '--local', '--decode'])).stdout).toContain('"d-file"');
  });

  test.each([
    ['an empty key file', ['--api-key-file', 'empty.txt']],
    ['a missing key file', ['--api-key-file', 'missing.txt']],
    ['a folder as the key file', ['--api-key-file', '.']],
    ['nothing on standard input', ['--api-key-file', '-']],
    ['an empty key', ['--api-key', '']],
  ])('%s: exit 2', async (_what, flags) => {
    sandbox.write('empty.txt', '\n');
    const { code, stdout, stderr } = await sandbox.runHere(['token', ...flags]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test.each([['--timeout', 7, (_running: { signal(name: NodeJS.Signals): void }) => {}]])(
    'a key that never comes on standard input does not block it: %s',
    async (flag, code) => {
      const running = sandbox.start(['token', '--api-key-file', '-', flag, '300ms'], { input: 'open' });
      expect((await running.ended).code).toBe(code);
    },
  );
});

describe('how it is interrupted', () => {
  test.each([
    ['SIGINT', 130, 'interrupted'],
    ['SIGTERM', 143, 'terminated'],
  ] as const)('%s while the service is slow to answer: exit %i', async (name, exitCode, code) => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { baseUrl } = await startTokenStub(sandbox, () => asked());
    const running = sandbox.start(['token', '--base-url', baseUrl, '--json']);
    await isAsked;
    running.signal(name);
    const ended = await running.ended;
    expect(ended.code).toBe(exitCode);
    expect(ended.stderr).toMatch(message);
    expect(jsonLines(ended.stdout)).toEqual([expect.objectContaining({ type: 'error', code, exitCode })]);
  });
});
