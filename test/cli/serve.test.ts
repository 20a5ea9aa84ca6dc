import { request } from 'node:http';
import * as net from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openStream, type StreamClient } from '../helpers/stream-client.ts';
import { fixture, fixturePcm, jsonLines, only, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const clients: StreamClient[] = [];
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
});

const message = /^voicectl: .+\n( {2}.+\n){0,2}$/;

async function askToken(baseUrl: string, apiKey = 'any', deviceId = 'd1') {
  const response = await fetch(`${baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiKey, deviceId }),
  });
  return { status: response.status, body: (await response.json()) as { token: string } };
}

async function connect(
  { baseUrl, wsUrl }: { baseUrl: string; wsUrl: string },
  device?: string,
): Promise<StreamClient> {
  const { body } = await askToken(baseUrl, 'any', device);
  const client = openStream(wsUrl);
  clients.push(client);
  await client.opened;
  await client.send(body.token);
  await client.connected;
  return client;
}

test('a reply module in a folder without the library is refused with how to install it there', async () => {
  const load = async (imported: string) => {
    sandbox.write('reply.mjs', `import '${imported}';`);
    return sandbox.runHere(['serve', '--port', '0', '--reply', 'module:reply.mjs']);
  };
  expect(await load('voicectl')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /Cannot load the reply module .*\n {2}Install voicectl in the folder of the module/,
    ),
  });
  expect((await load('another-package')).stderr).not.toContain('npm install');
});

test('an error that a reply module throws later fails the reply of that stream, and nothing else', async () => {
  sandbox.write(
    'reply.mjs',
    `export function createReply(voice) {
      const later = {
        timer: () => setTimeout(() => { throw new Error('late'); }, 1),
        promise: () => void Promise.reject(new Error('rejected')),
        close: () => setTimeout(() => voice.close(99, 'no code'), 1),
        fine: () => voice.message({ type: 'heard' }),
      };
      return { hear: () => later[voice.device]() };
    }`,
  );
  const serve = await sandbox.serve(['--reply', 'module:reply.mjs']);
  const said = async (device: string, wanted: object) => {
    const client = await connect(serve, device);
    await client.send(Buffer.alloc(640));
    await client.until(() =>
      client.messages.find((one) => JSON.stringify(one).includes(JSON.stringify(wanted).slice(1, -1))),
    );
    return client;
  };
  const all = [
    await said('timer', { message: 'The reply failed: late' }),
    await said('promise', { message: 'The reply failed: rejected' }),
    await said('close', { code: 'REPLY_FAILED' }),
    await said('fine', { type: 'heard' }),
  ];
  expect(all.map(({ socket }) => socket.readyState)).toEqual([1, 1, 1, 1]);
  serve.signal('SIGTERM');
  expect(await serve.ended).toMatchObject({ code: 0 });
});

test('--allow-origin lets the pages of each origin that it names ask, and no others', async () => {
  const origins = ['https://one.example.test', 'https://two.example.test'];
  const { baseUrl } = await sandbox.serveHere(origins.flatMap((origin) => ['--allow-origin', origin]));
  const answers = [...origins, 'https://three.example.test'].map(async (origin) => {
    const { status, headers } = await fetch(`${baseUrl}/api/websocket-voice/token`, {
      ...{ method: 'POST', headers: { Origin: origin, 'Content-Type': 'application/json' } },
      body: JSON.stringify({ apiKey: 'a-key', deviceId: 'd1' }),
    });
    return { status, allowed: headers.get('access-control-allow-origin') };
  });
  expect(await Promise.all(answers)).toEqual([
    ...origins.map((origin) => ({ status: 200, allowed: origin })),
    { status: 403, allowed: null },
  ]);
});

describe('what serve prints when it starts', () => {
  test('the scenario that speaks, and where the reply mode does', async () => {
    const serve = await sandbox.startHere([
      'serve',
      '--port',
      '0',
      '--scenario',
      'barge-in',
      '--reply',
      'echo',
    ]);
    expect(await serve.line(/emulates/)).toMatch(
      /emulates the service, following scenario barge-in, otherwise replying with echo$/,
    );
  });

  test('the URLs, and a curl line that works as it stands', async () => {
    const serve = await sandbox.startHere(['serve', '--port', '0']);
    const line = (await serve.line(/curl/)).replace(/^\s*try\s+/, '');
    expect(await serve.line(/stream {2}/)).toMatch(/ws:\/\/127\.0\.0\.1:\d+\/voice-stream$/);
    expect(await serve.line(/token {3}/)).toMatch(/http:\/\/127\.0\.0\.1:\d+\/api\/websocket-voice\/token$/);
    const curl = await sandbox.shell(line);
    expect({ code: curl.code, stderr: curl.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(curl.stdout)).toEqual({ token: expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/) });
    expect(serve.stderr).toBe('');
  });

  test('with accepted keys the curl line takes the key from the environment, and shows none', async () => {
    const serve = await sandbox.startHere(['serve', '--port', '0', '--accept-key', 'key-1']);
    const line = (await serve.line(/curl/)).replace(/^\s*try\s+/, '');
    expect(line).not.toContain('key-1');
    const good = await sandbox.shell(line, { env: { VOICECTL_API_KEY: 'key-1' } });
    expect(JSON.parse(good.stdout)).toHaveProperty('token');
    const bad = await sandbox.shell(line, { env: { VOICECTL_API_KEY: 'key-2' } });
    expect(JSON.parse(bad.stdout)).toHaveProperty('error.code');
  });

  test('and reports that the key is missing if the environment has none', async () => {
    const serve = await sandbox.startHere(['serve', '--port', '0', '--accept-key', 'key-1']);
    const line = (await serve.line(/curl/)).replace(/^\s*try\s+/, '');
    const { code, stderr, stdout } = await sandbox.shell(`unset VOICECTL_API_KEY; ${line}`);
    expect({ failed: code !== 0, stdout }).toEqual({ failed: true, stdout: '' });
    expect(stderr).toContain('VOICECTL_API_KEY: export it first, with a key that serve accepts');
  });

  test('with a file of accepted keys the curl line reads the key there', async () => {
    const file = sandbox.write("it's keys", '\nkey-1\nkey-2\n');
    const serve = await sandbox.startHere(['serve', '--port', '0', '--accept-key-file', file]);
    const line = (await serve.line(/curl/)).replace(/^\s*try\s+/, '');
    expect(line).not.toContain('key-1');
    expect(JSON.parse((await sandbox.shell(line)).stdout)).toHaveProperty('token');
  });

  test('--quiet shows only the warnings, on standard error: for a refused host, the flag that allows it', async () => {
    const serve = await sandbox.startHere([
      'serve',
      '--port',
      '0',
      '--quiet',
      '--ready-file',
      sandbox.path('ready.json'),
    ]);
    await vi.waitFor(() => sandbox.read('ready.json'), 20_000);
    const { baseUrl } = JSON.parse(sandbox.read('ready.json'));
    const { stdout } = await sandbox.shell(`curl -sS -H 'Host: my-pc.local' ${baseUrl}/`);
    expect(stdout).toContain('--allow-host NAME allows it');
    expect(await serve.line(/! refused/)).toContain('--allow-host NAME allows it');
    expect(serve.stdout).toBe('');
  });

  test('with --json the first line names the version and the URLs, and every line has t and type', async () => {
    const serve = await sandbox.serveHere();
    await askToken(serve.baseUrl);
    await serve.line(/token-issued/);
    const lines = jsonLines(serve.stdout);
    expect(lines[0]).toEqual({
      t: expect.any(Number),
      type: 'listening',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      wsUrl: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+$/),
      page: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/__voicectl\/#[\w-]{32}$/),
    });
    for (const line of lines)
      expect(line).toEqual(expect.objectContaining({ t: expect.any(Number), type: expect.any(String) }));
  });

  test('with -q nothing; the ready file has the URLs, complete and as JSON', async () => {
    const ready = sandbox.path('ready.json');
    const serve = await sandbox.startHere(['serve', '--port', '0', '-q', '--ready-file', ready]);
    // A process that waits for the file sees it complete as soon as it exists.
    const seen = await sandbox.shell(`while ! [ -e ${ready} ]; do sleep 0.02; done; cat ${ready}`);
    const { baseUrl, wsUrl } = JSON.parse(seen.stdout) as { baseUrl: string; wsUrl: string };
    expect(wsUrl).toBe(baseUrl.replace('http', 'ws'));
    expect((await askToken(baseUrl)).status).toBe(200);
    serve.signal('SIGTERM');
    expect(await serve.ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('a ready file that cannot be written ends it with 8, and leaves no draft behind', async () => {
    const { code, stderr } = await sandbox.runHere([
      'serve',
      '--port',
      '0',
      '-q',
      '--ready-file',
      sandbox.dir,
    ]);
    expect(code).toBe(8);
    expect(stderr).toMatch(message);
    const left = await sandbox.shell(`ls -d ${sandbox.dir}.* 2>/dev/null`);
    expect(left.stdout).toBe('');
  });
});

describe('what serve refuses to start with', () => {
  test('a port in use: exit 2, and how to choose another', async () => {
    const server = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    sandbox.defer(() => server.close());
    const { port } = server.address() as { port: number };
    const { code, stdout, stderr } = await sandbox.runHere(['serve', '--port', String(port)]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toContain(`Port ${port} on 127.0.0.1 is taken`);
    expect(stderr).toContain('--port 0');
  });

  test.each([
    ['every address of the machine', ['--host', '0.0.0.0']],
    ['every IPv6 address', ['--host', '::']],
    ['a name that is not loopback', ['--host', 'voice.example.test']],
    ['an unknown reply mode', ['--reply', 'nonsense']],
    ['a reply mode that is a property of every object', ['--reply', 'constructor']],
    ['a missing reply file', ['--reply', 'file:missing.wav']],
    ['a reply file that is not a WAV', ['--reply', `file:${import.meta.filename}`]],
    ['a missing dialect', ['--dialect', 'missing.yaml']],
    ['a missing file of keys', ['--accept-key-file', 'missing.txt']],
    ['an empty key', ['--accept-key', '']],
    ['a port that is too large', ['--port', '65536']],
    ['a rate limit of zero', ['--rate-limit', '0']],
    ['an unknown flag', ['--prot', '1']],
    ['an argument', ['extra']],
  ])('%s: exit 2', async (_what, flags) => {
    const { code, stdout, stderr } = await sandbox.runHere([
      'serve',
      ...(flags.includes('--port') ? [] : ['--port', '0']),
      ...flags,
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('a file of keys without a key: any key would be accepted', async () => {
    const file = sandbox.write('keys.txt', '\n \n');
    const { code, stderr } = await sandbox.runHere(['serve', '--port', '0', '--accept-key-file', file]);
    expect(code).toBe(2);
    expect(stderr).toContain(`There is no API key in ${file}`);
  });

  test('a dialect with a wrong value: the path, the value and what was expected are named', async () => {
    const file = sandbox.write('dialect.yaml', 'stream:\n  kindField: 7\n');
    const { code, stderr } = await sandbox.runHere(['serve', '--port', '0', '--dialect', file]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/dialect\.yaml:2:14: stream\.kindField: 7, expected .*string/);
  });

  test.each([
    ['YAML', 'dialect.yaml', 'stream: [unclosed\n'],
    ['JSON', 'dialect.json', '{"stream": '],
    ['a list', 'dialect.yaml', '- 1\n'],
  ])('an invalid dialect: %s', async (_what, name, content) => {
    const file = sandbox.write(name, content);
    const { code, stdout, stderr } = await sandbox.runHere(['serve', '--port', '0', '--dialect', file]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toContain(name);
  });
});

describe('what serve does as its flags say', () => {
  test('a dialect changes what goes over the wire', async () => {
    const file = sandbox.write('dialect.yaml', 'stream:\n  kindField: event\n');
    const client = await connect(await sandbox.serveHere(['--dialect', file]));
    expect(client.messages[0]).toEqual({ event: 'service_voice_connected' });
  });

  test('only accepted keys get a token, from flags and from a file', async () => {
    const file = sandbox.write('keys.txt', 'key-2\r\n\nkey-3\n');
    const { baseUrl } = await sandbox.serveHere(['--accept-key', 'key-1', '--accept-key-file', file]);
    const asked = ['key-1', 'key-2', 'key-3', 'key-4', 'key-'].map((key) => askToken(baseUrl, key));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 401, 401]);
  });

  test('with accepted keys it listens beyond loopback', async () => {
    const { baseUrl } = await sandbox.serveHere(['--host', '0.0.0.0', '--accept-key', 'key-1']);
    expect((await askToken(baseUrl, 'key-1')).status).toBe(200);
    expect((await askToken(baseUrl, 'key-2')).status).toBe(401);
  });

  test('the rate limit and the connection limit are those of the flags', async () => {
    const serve = await sandbox.serveHere(['--rate-limit', '2', '--max-connections', '1']);
    const first = await connect(serve);
    const { body } = await askToken(serve.baseUrl);
    const second = openStream(serve.wsUrl);
    clients.push(second);
    await second.opened;
    await second.send(body.token);
    expect((await second.closed).code).toBe(4429);
    expect(first.socket.readyState).toBe(first.socket.OPEN);
    expect((await askToken(serve.baseUrl)).status).toBe(429);
  });

  test('with a seed the tokens have the same ids in each run', async () => {
    const idOf = async () => {
      const { baseUrl } = await sandbox.serveHere(['--seed', '7']);
      const { body } = await askToken(baseUrl);
      return JSON.parse(Buffer.from(body.token.split('.')[1] ?? '', 'base64url').toString()).jti as string;
    };
    expect(await idOf()).toBe(await idOf());
  });

  test('echo sends every frame back at once', async () => {
    const client = await connect(await sandbox.serveHere(['--reply', 'echo']));
    const pcm = fixturePcm('hello.wav').subarray(0, 6400);
    await client.send(pcm);
    await client.until(() => client.audio.length >= pcm.length);
    expect(client.audio.equals(pcm)).toBe(true);
  });

  const heard = (pcm: Buffer) => pcm.some((byte) => byte > 8 && byte < 248);
  test.each([
    ['parrot', (audio: Buffer) => heard(audio)],
    ['tone', (audio: Buffer) => heard(audio)],
    [
      `file:${fixture('answer.wav')}`,
      (audio: Buffer) => audio.subarray(0, 3200).equals(fixturePcm('answer.wav').subarray(0, 3200)),
    ],
  ])('%s replies when the user stops speaking', async (reply, isRight) => {
    const client = await connect(await sandbox.serveHere(['--reply', reply]));
    await client.send(fixturePcm('barge-in.wav'));
    expect(client.audio).toHaveLength(0);
    await client.send(Buffer.alloc(32_000));
    await client.until(() => client.audio.length >= 6400);
    expect(isRight(client.audio)).toBe(true);
  });

  test('silence never replies', async () => {
    const serve = await sandbox.serveHere(['--reply', 'silence']);
    const client = await connect(serve);
    await client.send(fixturePcm('barge-in.wav'));
    await client.send(Buffer.alloc(32_000));
    serve.signal('SIGTERM');
    await client.closed;
    expect(client.audio).toHaveLength(0);
  });
});

describe('how serve ends', () => {
  test.each([
    ['SIGINT', 'serve'],
    ['SIGTERM', 'serveHere'],
  ] as const)('%s: each stream is closed with 1001, and the exit code is 0', async (name, how) => {
    const serve = await sandbox[how]();
    const streams = await Promise.all([connect(serve), connect(serve)]);
    serve.signal(name);
    expect((await Promise.all(streams.map(({ closed }) => closed))).map(({ code }) => code)).toEqual([
      1001, 1001,
    ]);
    const { code, stderr, stdout } = await serve.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(only(jsonLines(stdout), 'stopping')).toBeDefined();
  });

  test('a second signal ends it at once', async () => {
    const serve = await sandbox.serve();
    // It would wait for a request that never ends.
    const { port } = new URL(serve.baseUrl);
    const open = request({
      port,
      method: 'POST',
      path: '/api/websocket-voice/token',
      headers: { 'Content-Length': 9 },
    });
    open.on('error', () => {});
    open.flushHeaders();
    serve.signal('SIGINT');
    serve.signal('SIGINT');
    expect([0, 130]).toContain((await serve.ended).code);
  });

  test('if the reader of its lines goes away: exit 8, and no message', async () => {
    const ready = sandbox.path('ready.json');
    const pipe = sandbox.startShell(
      `{ voicectl serve --port 0 --ready-file ${ready}; echo "exit $?" >&2; } | head -n 1`,
    );
    const seen = await sandbox.shell(`while ! [ -e ${ready} ]; do sleep 0.02; done; cat ${ready}`);
    const { baseUrl } = JSON.parse(seen.stdout) as { baseUrl: string };
    // Its next line finds the pipe closed; the reader may take a moment to exit.
    const knock = setInterval(() => void askToken(baseUrl).catch(() => {}), 50);
    sandbox.defer(() => clearInterval(knock));
    const { stderr } = await pipe.ended;
    expect(stderr).toBe('exit 8\n');
  });

  test('a full disk under its output: exit 8', async () => {
    const { stderr } = await sandbox.shell('voicectl serve --port 0 > /dev/full; echo "exit $?" >&2');
    expect(stderr).toMatch(/^voicectl: Cannot write to standard output: .*ENOSPC.*\nexit 8\n$/);
  });
});

test('after running out of file descriptors serve answers again as soon as some are free', async () => {
  // Node opens all modules of a program at once: with fewer descriptors than this nothing can start.
  const serve = sandbox.startShell('ulimit -n 120; exec voicectl serve --port 0 --json');
  const [, baseUrl = ''] = /"baseUrl":"([^"]+)"/.exec(await serve.line(/"listening"/)) ?? [];
  const sockets = Array.from({ length: 250 }, () => net.connect(Number(new URL(baseUrl).port), '127.0.0.1'));
  const ends = sockets.map(
    (socket) => new Promise((resolve) => socket.on('error', () => {}).once('close', resolve)),
  );
  await Promise.race(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  for (const socket of sockets) socket.destroy();
  await Promise.all(ends);
  // The system closes connections for which it has no descriptor, until the program has seen that others are gone.
  const status = () =>
    askToken(baseUrl).then(
      (answer) => answer.status,
      () => 0,
    );
  await expect.poll(status, { timeout: 10_000 }).toBe(200);
  serve.signal('SIGTERM');
  expect((await serve.ended).code).toBe(0);
});
