import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import asyncApiSchemas from '@asyncapi/specs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createEmulator, type Emulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { controlPrefix, stateSchema } from '../../../src/protocol/control.ts';
import { createControlApi } from '../../../src/service/control/control-api.ts';
import { openStream } from '../../helpers/stream-client.ts';

const emulators: Emulator[] = [];
afterEach(async () => {
  await Promise.all(emulators.splice(0).map((emulator) => emulator.close()));
});

async function start(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await createEmulator({ reply: 'silence', ...options });
  emulators.push(emulator);
  return emulator;
}

/** Calls the control API as curl would. */
async function call(
  { baseUrl }: Emulator,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const bytes = body instanceof Buffer ? body : body === undefined ? undefined : JSON.stringify(body);
  const method = body === undefined ? 'GET' : 'POST';
  const answer = await fetch(baseUrl + controlPrefix + path, {
    method,
    headers,
    ...(bytes === undefined ? {} : { body: bytes }),
  });
  return { status: answer.status, json: await answer.json() };
}

async function takeToken({ baseUrl }: Emulator, deviceId = 'd1', apiKey = 'k'): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiKey, deviceId }),
  });
  return ((await answer.json()) as { token: string }).token;
}

/** A device with an authorised stream, and everything it is sent. */
async function connect(emulator: Emulator, deviceId = 'd1', apiKey = 'k') {
  const token = await takeToken(emulator, deviceId, apiKey);
  const socket = new WebSocket(`${emulator.wsUrl}/voice-stream`);
  const texts: unknown[] = [];
  const audio: Buffer[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) audio.push(data);
    else texts.push(JSON.parse(data.toString()));
  });
  const closed = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }));
  await once(socket, 'open');
  socket.send(token);
  await once(socket, 'message');
  return { socket, texts, audio, closed, token };
}

/** The close code of a stream that presents this token. */
async function codeFor({ wsUrl }: Emulator, token: string): Promise<number> {
  const socket = new WebSocket(`${wsUrl}/voice-stream`);
  await once(socket, 'open');
  socket.send(token);
  const [code] = await once(socket, 'close');
  return code as number;
}

describe('the clock', () => {
  test('moved forward by 61 s expires a token that was issued before, and opens a new window', async () => {
    const emulator = await start({ rateLimit: 1 });
    const token = await takeToken(emulator);
    expect(await takeToken(emulator)).toBeUndefined();
    const { json } = await call(emulator, '/clock', { advanceMs: 61_000 });
    expect(json).toMatchObject({ aheadMs: 61_000 });
    expect(await codeFor(emulator, token)).toBe(4401);
    expect(await takeToken(emulator)).toEqual(expect.any(String));
  });

  test('moved forward past the deadline closes a connection that has presented no token', async () => {
    const emulator = await start();
    const socket = new WebSocket(`${emulator.wsUrl}/voice-stream`);
    await once(socket, 'open');
    emulator.control.advance(5_001);
    const [code] = await once(socket, 'close');
    expect(code).toBe(4408);
  });

  test('moved forward neither cuts a live stream nor hurries its audio', async () => {
    const emulator = await start({ reply: 'parrot' });
    const device = await connect(emulator);
    emulator.control.speak({}, Buffer.alloc(640 * 20, 1));
    emulator.control.advance(120_000);
    emulator.control.send({}, { json: { type: 'marker' } });
    await expect.poll(() => device.texts).toContainEqual({ type: 'marker' });
    expect(device.audio.length).toBeLessThan(20);
    expect(device.socket.readyState).toBe(WebSocket.OPEN);
    device.socket.close();
    await device.closed;
  });

  test.each([[{ advanceMs: -1 }], [{ advanceMs: 'x' }], [{}], [{ advanceMs: 1, other: 2 }]])(
    'is not moved by %j',
    async (body) => {
      const { status, json } = await call(await start(), '/clock', body);
      expect(status).toBe(400);
      expect(json).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    },
  );
});

describe('the state', () => {
  test('shows devices, windows, streams and tokens, in the documented shape', async () => {
    const emulator = await start({ rateLimit: 5, maxConnections: 3 });
    const { socket, closed } = await connect(emulator, 'd1');
    await takeToken(emulator, 'd2');
    socket.send(Buffer.alloc(640));
    await expect.poll(() => emulator.control.state().streams[0]?.framesIn).toBe(1);
    const { json } = await call(emulator, '/state');
    const state = stateSchema.parse(json);
    expect(state).toEqual(json);
    expect(state.devices).toMatchObject([
      { device: 'd1', connections: 1, maxConnections: 3, requests: 1, limit: 5 },
      { device: 'd2', connections: 0, requests: 1 },
    ]);
    expect(state.streams).toMatchObject([
      { stream: 1, device: 'd1', bytesIn: 640, jti: state.tokens[0]?.jti },
    ]);
    expect(state.tokens.map(({ device, used }) => [device, used])).toEqual([
      ['d1', true],
      ['d2', false],
    ]);
    socket.close();
    await closed;
  });

  test('names no device by an accepted key, by which a stream can still be selected', async () => {
    const key = 'realkey-123456';
    const emulator = await start({ acceptKeys: [key] });
    const device = await connect(emulator, key, key);
    const { json } = await call(emulator, '/state');
    expect(JSON.stringify(json)).not.toContain(key);
    const [stream] = stateSchema.parse(json).streams;
    expect(stream).toMatchObject({ device: '[redacted]', claims: { sub: '[redacted]' } });
    expect(emulator.control.close({ device: key })).toEqual([1]);
    await device.closed;
  });

  test('forgets windows and tokens when their time has passed', async () => {
    const emulator = await start();
    await takeToken(emulator);
    emulator.control.advance(61_000);
    expect((await call(emulator, '/state')).json).toMatchObject({ devices: [], tokens: [] });
  });
});

describe('streams', () => {
  test('are sent a status, an error and any JSON, as the dialect words them', async () => {
    const emulator = await start({ dialect: { stream: { kindField: 'event', error: { shape: 'flat' } } } });
    const device = await connect(emulator);
    const messages = [{ status: 'speaking' }, { error: { code: 'X', message: 'why' } }, { json: [1, null] }];
    for (const message of messages) {
      expect((await call(emulator, '/messages', message)).json).toEqual({ streams: [1] });
    }
    await expect
      .poll(() => device.texts.slice(1))
      .toEqual([
        { event: 'status', status: 'speaking' },
        { event: 'error', code: 'X', message: 'why' },
        [1, null],
      ]);
    device.socket.close();
    await device.closed;
  });

  test.each([
    ['by number', { stream: 2 }, [2]],
    ['by device', { device: 'a' }, [1, 3]],
    ['all', {}, [1, 2, 3]],
    ['by number and device', { stream: 1, device: 'a' }, [1]],
    ['by a number and a device that is not its own', { stream: 1, device: 'b' }, []],
    ['none that is there', { device: 'nobody' }, []],
  ])('are chosen %s', async (_how, selector, reached) => {
    const emulator = await start();
    const devices = [
      await connect(emulator, 'a'),
      await connect(emulator, 'b'),
      await connect(emulator, 'a'),
    ];
    const { json } = await call(emulator, '/close', { ...selector, code: 4002, reason: 'told to' });
    expect(json).toEqual({ streams: reached });
    for (const stream of reached)
      expect(await devices[stream - 1]?.closed).toEqual({ code: 4002, reason: 'told to' });
    expect(emulator.control.state().streams).toHaveLength(3 - reached.length);
    for (const { socket } of devices) socket.terminate();
  });

  test('receive a WAV that is said to them, converted and complete', async () => {
    const emulator = await start();
    const device = await connect(emulator);
    const wav = await readFile(new URL('../../../fixtures/barge-in.wav', import.meta.url));
    expect((await call(emulator, '/speech?device=d1', wav)).json).toEqual({ streams: [1] });
    await expect
      .poll(() => Buffer.concat(device.audio).equals(wav.subarray(44)), { timeout: 10_000 })
      .toBe(true);
    device.socket.close();
    await device.closed;
  });

  test.each(['RIFF', 'RF64', 'BW64'])('get nothing from %s, which is not audio', async (form) => {
    const emulator = await start();
    const { status, json } = await call(emulator, '/speech', Buffer.from(`${form} but not a WAV`));
    expect(status).toBe(400);
    expect(json).toMatchObject({
      error: { message: expect.stringContaining('Cannot read the request body') },
    });
  });
});

describe('the journal', () => {
  test('has the events so far, filtered by type, device, stream and place', async () => {
    const emulator = await start();
    await takeToken(emulator, 'a');
    await takeToken(emulator, 'b');
    const types = async (query: string) =>
      (
        (await call(emulator, `/journal${query}`)).json as { type: string; device?: string; seq: number }[]
      ).map(({ type, device }) => `${type} ${device ?? ''}`.trim());
    expect(await types('')).toEqual(['listening', 'token-issued a', 'token-issued b']);
    expect(await types('?device=b')).toEqual(['token-issued b']);
    expect(await types('?type=listening')).toEqual(['listening']);
    expect(await types('?since=2')).toEqual(['token-issued b']);
    expect(await types('?limit=1')).toEqual(['token-issued b']);
    expect(await types('?stream=1')).toEqual([]);
    expect((await call(emulator, '/journal?limit=0')).status).toBe(400);
  });

  test.each(['/journal', '/journal/live'])('refuses at %s a type that no event has', async (path) => {
    const emulator = await start();
    const answered = await call(emulator, `${path}?type=stream-close`);
    expect(answered).toMatchObject({
      status: 400,
      json: { error: { message: 'There is no event of type stream-close, did you mean stream-closed?' } },
    });
  });

  test('can be followed live as server-sent events, from a place in the past', async () => {
    const emulator = await start();
    await takeToken(emulator, 'a');
    const following = request(`${emulator.baseUrl}${controlPrefix}/journal/live?since=1`).end();
    const [response] = await once(following, 'response');
    let text = '';
    response.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    await expect.poll(() => text).toContain('"device":"a"');
    await takeToken(emulator, 'b');
    await expect.poll(() => text).toMatch(/id: 3\nevent: token-issued\ndata: \{"seq":3,.*"device":"b"/);
    following.destroy();
  });

  test('can be followed from the beginning even if it holds more than a megabyte', async () => {
    const emulator = await start();
    const device = await connect(emulator);
    for (let i = 0; i < 700; i += 1) emulator.control.send({}, { json: 'x'.repeat(2_000) });
    const following = request(`${emulator.baseUrl}${controlPrefix}/journal/live?since=0&limit=10000`).end();
    const [response] = await once(following, 'response');
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await expect.poll(() => bytes).toBeGreaterThan(1_400_000);
    following.destroy();
    device.socket.terminate();
  });

  test('drops a follower that does not read, and nothing piles up for it', async () => {
    let tell: ((entry: object) => void) | undefined;
    const journal = {
      follow(_filter: object, listener: (entry: object) => void) {
        tell = listener;
        return () => {
          tell = undefined;
        };
      },
    };
    const api = createControlApi({
      ...{ control: { journal } as never, secret: () => '', trustsThisMachine: true, isSecure: false },
      metrics: { isScraper: () => false } as never,
    });
    const server = createServer((asked, response) => void api(asked, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const following = request(`http://127.0.0.1:${port}${controlPrefix}/journal/live`).end();
    const [response] = (await once(following, 'response')) as [IncomingMessage];
    const ended = once(response.pause(), 'end');
    ended.catch(() => {});
    const body = 'x'.repeat(1024 * 1024);
    let seq = 0;
    while (tell !== undefined && seq < 64) {
      seq += 1;
      tell({ seq, type: 'message-sent', body });
      await new Promise(setImmediate);
    }
    expect(tell).toBeUndefined();
    response.resume();
    await expect(ended).rejects.toMatchObject({ code: 'ECONNRESET' });
    server.close();
  });

  test('remembers a bounded number of events', async () => {
    const emulator = await start();
    for (let i = 0; i < 25_000; i += 1) emulator.control.journal.clear();
    const device = await connect(emulator);
    for (let i = 0; i < 10_500; i += 1) emulator.control.send({}, { json: i });
    const entries = emulator.control.journal.read({}, Number.POSITIVE_INFINITY);
    expect(entries.length).toBe(10_000);
    expect(entries.at(-1)).toMatchObject({ type: 'message-sent', body: 10_499 });
    device.socket.terminate();
  });

  test('contains neither key nor token', async () => {
    const emulator = await start();
    const device = await connect(emulator);
    expect(JSON.stringify(emulator.control.journal.read({}, 1_000))).not.toContain(device.token);
    device.socket.terminate();
  });
});

test('a reset closes a stream that has not presented its token, too', async () => {
  const emulator = await start();
  const waiting = openStream(emulator.wsUrl);
  await waiting.opened;
  expect((await call(emulator, '/reset', {})).json).toEqual({ streams: [1] });
  expect(await waiting.closed).toMatchObject({ code: 1012 });
});

test('a reset closes all streams with 1012 and forgets windows and the journal', async () => {
  const emulator = await start({ rateLimit: 1 });
  const device = await connect(emulator);
  expect((await call(emulator, '/reset', {})).json).toEqual({ streams: [1] });
  expect((await device.closed).code).toBe(1012);
  expect(await takeToken(emulator)).toEqual(expect.any(String));
  const types = emulator.control.journal.read({}, 1_000).map(({ type }) => type);
  expect(types).toEqual(['control', 'stream-closed', 'token-issued']);
});

describe('access', () => {
  const ask = (emulator: Emulator, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve) => {
      request(`${emulator.baseUrl}${controlPrefix}/health`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });

  test.each([
    ['this machine by name', { host: 'localhost:1' }, 200],
    ['a page of this machine', { origin: 'http://localhost:3000' }, 200],
    ['a name that was allowed for the service', { host: 'workstation.lan' }, 403],
    ['a page that was allowed for the service', { origin: 'https://app.example' }, 403],
    ['a name of somebody else', { host: 'evil.example' }, 403],
    ['a page of somebody else', { origin: 'https://evil.example' }, 403],
    ['an opaque page', { origin: 'null' }, 403],
  ])('by %s is answered', async (_who, headers, status) => {
    const emulator = await start({ allowHosts: ['workstation.lan'], allowOrigins: ['https://app.example'] });
    expect(await ask(emulator, headers)).toBe(status);
  });

  test('beyond loopback needs the secret', async () => {
    const emulator = await start({ host: '0.0.0.0', acceptKeys: ['k'], controlSecret: 's3cret' });
    expect(await ask(emulator, {})).toBe(401);
    expect(await ask(emulator, { authorization: 'Bearer wrong' })).toBe(401);
    expect(await ask(emulator, { authorization: 'Bearer s3cret' })).toBe(200);
  });

  test('beyond loopback is refused without a secret', async () => {
    const emulator = await start({ host: '0.0.0.0', acceptKeys: ['k'] });
    expect(await ask(emulator, { authorization: 'Bearer ' })).toBe(401);
    expect(await ask(emulator, { authorization: 'Bearer undefined' })).toBe(401);
  });

  test.each([
    ['/nowhere', undefined, 404],
    ['/state', {}, 405],
    ['/close', { code: 1005 }, 400],
    ['/messages', {}, 400],
    ['/messages', { status: 'speaking', json: 1 }, 400],
  ])('to %s with %j is refused', async (path, body, status) => {
    const answer = await call(await start(), path, body);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
  });
});

test.each([
  ['/messages', (deep: string) => `{"json":${deep}}`],
  ['/faults', (deep: string) => deep],
  ['/clock', (deep: string) => `{"advanceMs":${deep}}`],
])('JSON that is nested 5,000 deep is refused by %s', async (path, body) => {
  const { baseUrl } = await start();
  const ask = (levels: number) =>
    fetch(baseUrl + controlPrefix + path, {
      method: 'POST',
      body: body('['.repeat(levels) + ']'.repeat(levels)),
    });
  for (const levels of [101, 5_000, 100_000]) {
    const answer = await ask(levels);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error: { code: 'INVALID_REQUEST', message: 'The body is nested deeper than 100 levels' },
    });
  }
});

test('a refused call names what is wrong as the library does', async () => {
  const emulator = await start();
  const { status, json } = await call(emulator, '/close', { code: 'x', raeson: 1 });
  expect(status).toBe(400);
  expect(json).toMatchObject({
    error: { code: 'INVALID_REQUEST', message: 'code is "x", expected number; raeson: no such setting' },
  });
});

describe('the documents', () => {
  test('describe every path of the HTTP side, and are valid OpenAPI', async () => {
    const { json } = await call(await start(), '/openapi.json');
    const { valid, errors } = await new Validator().validate(json as Record<string, unknown>);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(Object.keys((json as { paths: object }).paths)).toContain('/api/v1/websocket-voice/token');
  });

  test('describe the voice stream, and are valid AsyncAPI', async () => {
    const { json } = await call(await start(), '/asyncapi.json');
    const schema = (asyncApiSchemas as unknown as { schemas: Record<string, object> }).schemas['3.0.0'] ?? {};
    const validate = new Ajv({
      strict: false,
      meta: false,
      validateSchema: false,
      validateFormats: false,
    }).compile(schema);
    expect(validate(json) ? [] : validate.errors).toEqual([]);
  });
});
