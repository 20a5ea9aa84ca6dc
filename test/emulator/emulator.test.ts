import { connect, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { httpRequest } from '../helpers/raw-http.ts';

const startEmulator = setUpEmulators();

test('an emulator listens on loopback, on a free port, and reports its address', async () => {
  const emulator = await startEmulator();
  expect(emulator.port).toBeGreaterThan(0);
  expect(emulator.baseUrl).toBe(`http://127.0.0.1:${emulator.port}`);
  expect(emulator.wsUrl).toBe(`ws://127.0.0.1:${emulator.port}`);
  expect(emulator.events).toEqual([
    {
      t: expect.any(Number),
      type: 'listening',
      version: expect.any(String),
      baseUrl: emulator.baseUrl,
      wsUrl: emulator.wsUrl,
    },
  ]);
});

test.each(['0.0.0.0', '::', '192.0.2.1', 'example.com', ''])(
  'a host beyond loopback, %j, is refused while any key is accepted',
  async (host) => {
    await expect(createEmulator({ host })).rejects.toMatchObject({
      code: 'host-exposed',
      exitCode: 2,
      hint: expect.stringContaining('acceptKeys'),
    });
  },
);

test('on all interfaces, with keys, the reported URL works', async () => {
  const emulator = await startEmulator({ host: '0.0.0.0', acceptKeys: ['key-1'], reply: 'silence' });
  expect(emulator.baseUrl).toBe(`http://127.0.0.1:${emulator.port}`);
  await emulator.connect();
});

test('a port in use is reported, and nothing is left running', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  await expect(createEmulator({ port })).rejects.toMatchObject({
    code: 'port-in-use',
    exitCode: 2,
    message: expect.stringContaining(String(port)),
    hint: expect.stringContaining('port: 0 of the library'),
  });
  await new Promise((resolve) => taken.close(resolve));
  await startEmulator({ port });
});

test('a start that fails when the emulator listens leaves no port open', async () => {
  let port = 0;
  const starting = createEmulator({
    onEvent(event) {
      if (event.type !== 'listening') return;
      port = Number(new URL(event.baseUrl).port);
      throw new Error('not today');
    },
  });
  await expect(starting).rejects.toThrow('not today');
  expect(port).toBeGreaterThan(0);
  const refused = new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => reject(socket.destroy()));
    socket.once('error', resolve);
  });
  expect(await refused).toMatchObject({ code: 'ECONNREFUSED' });
});

test('an address that may not scrape is refused in the words of the library and of the command line', async () => {
  await expect(createEmulator({ metrics: { allow: ['bad'] } })).rejects.toMatchObject({
    code: 'usage',
    message: 'metrics: "bad" is neither an address nor a network',
    hint: 'Allow (--metrics-allow, or metrics.allow of the library) for example 192.168.1.7 or 192.168.1.0/24.',
  });
});

test('an address of another machine is a usage error', async () => {
  const starting = createEmulator({ host: '192.0.2.1', acceptKeys: ['key-1'] });
  await expect(starting).rejects.toMatchObject({ code: 'usage' });
});

test('an invalid dialect is reported with path and expectation, without secrets', async () => {
  const secret = 'short canary';
  const starting = createEmulator({
    dialect: { token: { secret }, rateLimit: { window: 'fixed' as 'sliding' } },
  });
  const error = await starting.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ code: 'bad-dialect', details: { problems: { length: 2 } } });
  expect(JSON.stringify([error.message, error.details])).not.toContain('canary');
});

test.each(['', 'parot', 'file:', 'file', 'constructor', '__proto__:x', 'toString'])(
  'the reply mode %j is unknown',
  async (reply) => {
    await expect(createEmulator({ reply })).rejects.toMatchObject({ code: 'usage' });
  },
);

describe('closing', () => {
  test('twice has the effect of once', async () => {
    const emulator = await startEmulator();
    const first = emulator.close();
    expect(emulator.close()).toBe(first);
    await first;
    await emulator.close();
    expect(emulator.events.filter(({ type }) => type === 'stopping')).toHaveLength(1);
  });

  test('frees the port', async () => {
    const emulator = await startEmulator();
    await emulator.close();
    await expect(fetch(emulator.baseUrl)).rejects.toThrow();
    await startEmulator({ port: emulator.port });
  });

  test('happens at the end of its scope', async () => {
    let baseUrl = '';
    {
      await using emulator = await createEmulator();
      baseUrl = emulator.baseUrl;
      expect((await fetch(baseUrl)).status).toBe(200);
    }
    await expect(fetch(baseUrl)).rejects.toThrow();
  });

  test.each([
    ['sends nothing', ''],
    ['sends half a request', 'POST /api'],
    ['keeps its connection', httpRequest(['GET / HTTP/1.1', 'Host: 127.0.0.1'])],
    ['was refused', httpRequest(['GET / HTTP/1.1', 'Host: evil.example'])],
    [
      'was refused an upgrade',
      httpRequest(['GET /nowhere HTTP/1.1', 'Host: 127.0.0.1', 'Connection: Upgrade', 'Upgrade: websocket']),
    ],
    ['spoke no HTTP', 'hello\r\n\r\n'],
  ])('does not wait for a peer that %s and stays connected', async (_name, text) => {
    const emulator = await startEmulator();
    const socket = connect({ port: emulator.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.on('connect', resolve));
    if (text.includes('\r\n')) {
      const answered = new Promise((resolve) => socket.once('data', resolve));
      socket.write(text);
      await answered;
    } else socket.write(text);
    await emulator.close();
    socket.destroy();
  });
});

test('a seed gives the same identifiers in each run', async () => {
  const run = async (seed: number) => {
    const emulator = await startEmulator({ seed });
    await emulator.token();
    await emulator.token();
    return emulator.events.flatMap((event) => (event.type === 'token-issued' ? event.jti : []));
  };
  expect(await run(1)).toEqual(await run(1));
  expect(await run(1)).not.toEqual(await run(2));
});
