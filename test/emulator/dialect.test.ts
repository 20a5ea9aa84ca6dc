import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDialect } from '../../src/config/dialect-file.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import type { DialectInput } from '../../src/protocol/dialect.ts';
import { type RunningEmulator, setUpEmulators } from '../helpers/emulators.ts';
import { hasForeignClient, runForeignClient } from '../helpers/foreign-client.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { httpRequest, rawHttp } from '../helpers/raw-http.ts';

const startEmulator = setUpEmulators();
const silent = (dialect: DialectInput, more: EmulatorOptions = {}) =>
  startEmulator({ reply: 'silence', dialect, ...more });

function post(port: number, body: string) {
  const lines = ['POST /api/websocket-voice/token HTTP/1.1', 'Host: 127.0.0.1'];
  const head = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close'];
  return rawHttp(port, httpRequest([...lines, ...head], body));
}
const remainingOf = ({ headers }: { headers: Headers }) => Number(headers.get('X-RateLimit-Remaining'));
const headerOf = (answer: { headers: [string, string][] }, wanted: string) =>
  answer.headers.find(([name]) => name === wanted)?.[1];

async function present(emulator: RunningEmulator, token: string | Buffer) {
  const client = emulator.open();
  await client.opened;
  await client.send(token);
  return client;
}

describe('a close', () => {
  const closes = (close: number) => ({ stream: { closes: { tokenInvalid: { close } } } });

  test.each([
    [1005, 1005],
    [1006, 1006],
  ])('with the code %i reaches the device as %i, after the error message', async (close, seen) => {
    const client = await present(await silent(closes(close)), 'no token');
    expect(await client.closed).toEqual({ code: seen, reason: '' });
    expect(client.messages).toMatchObject([{ error: { code: 'INVALID_TOKEN' } }]);
  });

  test('of a connection that never reads also ends without a close frame', async () => {
    const clock = createManualClock();
    const emulator = await silent(closes(1006), { clock });
    const client = emulator.open();
    await client.opened;
    client.socket.pause();
    await client.send('no token');
    expect(await emulator.event('stream-closed')).toMatchObject({ cause: 'tokenInvalid', code: 1006 });
  });

  test.skipIf(!hasForeignClient)('without a close frame is a close for a foreign client', async () => {
    const emulator = await silent(
      { stream: { closes: { tooManyConnections: { close: 1006 } } } },
      { maxConnections: 1 },
    );
    const args = ['--mode', 'connect-many', '2', '--hold', '1', '--timeout', '10'];
    const report = await runForeignClient(emulator.baseUrl, args);
    expect(report).toMatchObject({ connected: 1, refusedCloseCodes: { 1006: 1 } });
  });
});

describe('the connection limit', () => {
  test('is applied at the upgrade by the address of the device', async () => {
    const status = { tooManyConnections: { status: 420 } };
    const emulator = await silent(
      { refusals: status, stream: { connectionLimit: 'refuse-upgrade' } },
      { maxConnections: 2 },
    );
    const first = await emulator.connect('d');
    await emulator.connect('d');
    await expect(emulator.open().opened).rejects.toThrow('HTTP 420');
    expect(await emulator.event('request-refused')).toMatchObject({
      cause: 'tooManyConnections',
      status: 420,
    });
    first.socket.close();
    await emulator.event('stream-closed');
    await emulator.connect('d');
  });

  test('makes room by closing the oldest stream of that device only', async () => {
    const emulator = await silent({ stream: { connectionLimit: 'evict-oldest' } }, { maxConnections: 2 });
    const other = await emulator.connect('other');
    const oldest = await emulator.connect('d');
    const second = await emulator.connect('d');
    const third = await emulator.connect('d');
    expect(await oldest.closed).toMatchObject({ code: 4429 });
    expect(oldest.messages.at(-1)).toMatchObject({ error: { code: 'CONNECTION_REPLACED' } });
    expect(await emulator.event('stream-closed')).toMatchObject({ cause: 'evicted', device: 'd' });
    for (const { socket } of [other, second, third]) expect(socket.readyState).toBe(socket.OPEN);
  });

  test('makes room each time, although no evicted device answers its close', async () => {
    const emulator = await silent({ stream: { connectionLimit: 'evict-oldest' } }, { maxConnections: 1 });
    const first = await emulator.connect('d');
    first.socket.pause();
    const second = await emulator.connect('d');
    second.socket.pause();
    const third = await emulator.connect('d');
    expect(third.socket.readyState).toBe(third.socket.OPEN);
    const { streams } = await emulator.control.state();
    expect(streams).toMatchObject([{ stream: 3, device: 'd' }]);
  });

  test('evicts no stream for a token that was used before', async () => {
    const emulator = await silent({ stream: { connectionLimit: 'evict-oldest' } }, { maxConnections: 1 });
    const token = await emulator.token('d');
    const first = await present(emulator, token);
    await first.connected;
    const again = await present(emulator, token);
    expect(await again.closed).toMatchObject({ reason: 'The token has been used already' });
    expect(first.socket.readyState).toBe(first.socket.OPEN);
  });

  test.skipIf(!hasForeignClient)('refuses the upgrade of a foreign client with a status', async () => {
    const emulator = await silent({ stream: { connectionLimit: 'refuse-upgrade' } }, { maxConnections: 0 });
    const report = await runForeignClient(emulator.baseUrl, ['--mode', 'session', '--timeout', '10']);
    expect(report.stream.handshakeStatus).toBe(429);
  });
});

describe('the capacity of the service', () => {
  test('is applied at the upgrade, with the status of unavailable', async () => {
    const emulator = await silent({ stream: { capacity: { connections: 1 } } });
    await emulator.connect('a');
    await expect(emulator.open().opened).rejects.toThrow('HTTP 503');
  });

  test('is applied at the token, which stays usable', async () => {
    const capacity = { connections: 1, refuseAt: 'token' } as const;
    const emulator = await silent({ stream: { capacity } });
    const first = await emulator.connect('a');
    const token = await emulator.token('b');
    expect(await (await present(emulator, token)).closed).toMatchObject({ code: 1013 });
    first.socket.close();
    await emulator.event('stream-closed', ({ device }) => device === 'a');
    await (await present(emulator, token)).connected;
  });
});

test.each<[limit: string, stream: DialectInput['stream'], more: EmulatorOptions]>([
  ['the capacity at the upgrade', { capacity: { connections: 1 } }, {}],
  ['the capacity at the token', { capacity: { connections: 1, refuseAt: 'token' } }, {}],
  ['the limit of an address', { connectionLimit: 'refuse-upgrade' }, { maxConnections: 1 }],
])(
  'a stream that only waits for the answer to its close does not count for %s',
  async (_limit, stream, more) => {
    const emulator = await silent({ stream }, more);
    const silentPeer = await emulator.connect('a');
    silentPeer.socket.pause();
    await emulator.control.close({ device: 'a' }, 1012, '');
    const next = await emulator.connect('b');
    expect(next.socket.readyState).toBe(next.socket.OPEN);
  },
);

describe('a token bucket', () => {
  const start = async (limit: number) => {
    const clock = createManualClock();
    const emulator = await silent({ rateLimit: { window: 'token-bucket' } }, { clock, rateLimit: limit });
    const take = async (times: number) => {
      const answers = [];
      for (let at = 0; at < times; at += 1) answers.push(await emulator.requestToken('d'));
      return answers;
    };
    return { clock, take };
  };

  test('refills one request at a time, and reports when the next is allowed', async () => {
    const { clock, take } = await start(4);
    const answers = await take(5);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    const nowSeconds = clock.wall() / 1000;
    expect(Number(answers[4]?.headers.get('X-RateLimit-Reset')) - nowSeconds).toBe(60);
    expect(answers[4]?.headers.get('Retry-After')).toBe('15');
    clock.advance(14_999);
    expect((await take(1))[0]?.status).toBe(429);
    clock.advance(1);
    expect((await take(2)).map(({ status }) => status)).toEqual([200, 429]);
    clock.advance(30_000);
    expect((await take(3)).map(({ status }) => status)).toEqual([200, 200, 429]);
  });

  test('holds no more than its limit', async () => {
    const { clock, take } = await start(3);
    await take(1);
    clock.advance(600_000);
    expect((await take(3)).map(remainingOf)).toEqual([2, 1, 0]);
  });
});

test('a calendar minute ends on the minute, no matter when its first request came', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1, 12, 0, 50));
  const emulator = await silent({ rateLimit: { window: 'calendar-minute' } }, { clock, rateLimit: 1 });
  const first = await emulator.requestToken('d');
  expect(first.headers.get('X-RateLimit-Reset')).toBe(String(Date.UTC(2026, 0, 1, 12, 1) / 1000));
  clock.advance(9_999);
  const refused = await emulator.requestToken('d');
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1']);
  clock.advance(1);
  expect((await emulator.requestToken('d')).status).toBe(200);
  clock.advance(59_999);
  expect((await emulator.requestToken('d')).status).toBe(429);
});

describe('invalid requests', () => {
  const noKey = '{"deviceId":"d"}';

  test('that count use up the window, until the limit refuses them', async () => {
    const emulator = await silent({ rateLimit: { countsInvalid: true } }, { rateLimit: 2 });
    expect((await post(emulator.port, noKey)).status).toBe(400);
    expect((await post(emulator.port, '{"apiKey":"","deviceId":"d"}')).status).toBe(400);
    const limited = await post(emulator.port, noKey);
    expect([limited.status, headerOf(limited, 'X-RateLimit-Remaining')]).toEqual([429, '0']);
    expect((await emulator.requestToken('d')).status).toBe(429);
    expect((await emulator.requestToken('other')).status).toBe(200);
  });

  test('count with a wrong key too, and against no device without a device id', async () => {
    const emulator = await silent(
      { rateLimit: { countsInvalid: true } },
      { rateLimit: 2, acceptKeys: ['k'] },
    );
    expect((await emulator.requestToken('d', { apiKey: 'wrong' })).status).toBe(401);
    for (const body of ['{', '{"apiKey":"k"}']) expect((await post(emulator.port, body)).status).toBe(400);
    expect(remainingOf(await emulator.requestToken('d', { apiKey: 'k' }))).toBe(0);
  });

  test('carry the headers if the dialect says so, without being counted', async () => {
    const emulator = await silent({ rateLimit: { headersOnInvalid: true } });
    for (const _ of [1, 2]) {
      const answer = await post(emulator.port, noKey);
      expect([answer.status, headerOf(answer, 'X-RateLimit-Remaining')]).toEqual([400, '60']);
    }
  });

  test('are told why, not when to come back, also beyond the limit that they do not count for', async () => {
    const emulator = await silent(
      { rateLimit: { headersOnInvalid: true } },
      { rateLimit: 1, acceptKeys: ['k'] },
    );
    expect((await emulator.requestToken('d', { apiKey: 'k' })).status).toBe(200);
    expect((await emulator.requestToken('d', { apiKey: 'k' })).status).toBe(429);
    const answer = await post(emulator.port, noKey);
    expect([answer.status, headerOf(answer, 'X-RateLimit-Remaining')]).toEqual([400, '0']);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    expect((await emulator.requestToken('d', { apiKey: 'wrong' })).status).toBe(401);
  });

  const long = 'x'.repeat(257);
  test.each([
    ['invalidJson', '{'],
    ['notAnObject', '[]'],
    ['missingApiKey', '{"deviceId":"d"}'],
    ['missingDeviceId', '{"apiKey":"k"}'],
    ['emptyApiKey', '{"apiKey":"","deviceId":"d"}'],
    ['emptyDeviceId', '{"apiKey":"k","deviceId":""}'],
    ['wrongType', '{"apiKey":"k","deviceId":42}'],
    ['tooLong', `{"apiKey":"k","deviceId":"${long}"}`],
    ['badCharacters', '{"apiKey":"k","deviceId":"\\u0007"}'],
    ['badNesting', '{"apiKey":"k","deviceId":"d","constructor":1}'],
  ])('of the case %s have their own status, and the others have theirs', async (name, body) => {
    const emulator = await silent({
      refusals: { invalidRequest: { status: 499, statuses: { [name]: 422 } } },
    });
    const answer = await post(emulator.port, body);
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body).error.code).toBe('INVALID_REQUEST');
    expect((await post(emulator.port, name === 'invalidJson' ? '[]' : '{')).status).toBe(499);
  });

  test('that are not HTTP have a status of their own', async () => {
    const { port } = await silent({ refusals: { invalidRequest: { statuses: { badHttp: 418 } } } });
    expect((await rawHttp(port, 'nonsense\r\n\r\n')).status).toBe(418);
    expect((await rawHttp(port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).status).toBe(418);
  });
});

describe('tokens without jti', () => {
  const secret = 'a secret of more than 32 bytes, known';
  const start = async () => {
    const clock = createManualClock();
    return { clock, emulator: await silent({ token: { jti: false, secret } }, { clock }) };
  };

  test('for one device in the same second are the same token, and open one stream', async () => {
    const { clock, emulator } = await start();
    const [first, second] = [await emulator.token('d'), await emulator.token('d')];
    expect(second).toBe(first);
    expect(JSON.parse(Buffer.from(first.split('.')[1] ?? '', 'base64url').toString())).not.toHaveProperty(
      'jti',
    );
    await (await present(emulator, first)).connected;
    expect(await (await present(emulator, second)).closed).toMatchObject({ code: 4401 });
    clock.advance(1_000);
    await emulator.connect('d');
  });

  test('are identified by their hash in every event', async () => {
    const { emulator } = await start();
    const token = await emulator.token('d');
    await (await present(emulator, token)).connected;
    const signed = token.slice(0, token.lastIndexOf('.'));
    const id = createHash('sha256').update(signed).digest('hex').slice(0, 32);
    expect(await emulator.event('token-issued')).toMatchObject({ jti: id });
    expect(await emulator.event('stream-authorised')).toMatchObject({ jti: id });
  });
});

describe('messages', () => {
  test('are sent before the token, and before and after the confirmation', async () => {
    const emulator = await silent({
      stream: {
        greeting: [{ type: 'hello', device: { $device: true } }],
        connected: {
          before: [{ type: 'queued', place: 0 }],
          fields: { sessionId: { $session: true } },
          after: [{ type: 'limits', device: { $device: true }, session: { $session: true } }],
        },
      },
    });
    const client = emulator.open();
    await client.until(() => client.messages.length === 1);
    expect(client.messages).toEqual([{ type: 'hello', device: null }]);
    await client.send(await emulator.token('kitchen'));
    await client.until(() => client.messages.length >= 4);
    const [, queued, connected, limits] = client.messages;
    expect(queued).toEqual({ type: 'queued', place: 0 });
    expect(connected).toEqual({
      type: 'service_voice_connected',
      sessionId: expect.stringMatching(/^[\da-f-]{36}$/),
    });
    expect(limits).toEqual({ type: 'limits', device: 'kitchen', session: connected?.sessionId });
  });

  test('contain the value of each template', async () => {
    const clock = createManualClock(Date.UTC(2026, 0, 1, 12));
    const fields = {
      id: { $uuid: true },
      list: [{ at: { $now: 'iso8601' } }, { $now: 'seconds' }, { $now: 'milliseconds' }],
      stream: { $stream: true },
      nth: { $sequence: true },
    };
    const emulator = await silent({ stream: { connected: { fields }, status: { fields } } }, { clock });
    const { messages } = await emulator.connect('d');
    const [connected] = messages;
    expect(connected).toMatchObject({
      list: [{ at: '2026-01-01T12:00:00.000Z' }, 1_767_268_800, 1_767_268_800_000],
      stream: 1,
      nth: 1,
    });
    const other = await emulator.connect('d');
    expect(other.messages[0]).toMatchObject({ stream: 2, nth: 1 });
    expect(other.messages[0]?.id).not.toBe(connected?.id);
  });

  test('have a kind for each state, without a field for it', async () => {
    const status = { kinds: { speaking: 'reply_started' }, kind: 'reply_done', stateField: '' };
    const emulator = await startEmulator({ reply: 'parrot', dialect: { stream: { status } } });
    const client = await emulator.connect('d');
    await client.until(() => client.messages.length === 2);
    expect(client.messages[1]).toEqual({ type: 'reply_done' });
    emulator.control.send({ device: 'd' }, { status: 'speaking' });
    await client.until(() => client.messages.length === 3);
    expect(client.messages[2]).toEqual({ type: 'reply_started' });
  });
});

test('a refused token is explained to the device if the dialect says so', async () => {
  const emulator = await silent({ stream: { explainRefusals: true } });
  const client = await present(emulator, `Bearer ${await emulator.token('d')}`);
  expect(await client.closed).toMatchObject({ code: 4401, reason: 'The token is not valid' });
  const message = expect.stringMatching(/^the token comes after the word Bearer: send the token alone/);
  expect(client.messages).toMatchObject([{ error: { code: 'INVALID_TOKEN', message } }]);
  expect(await emulator.event('stream-closed')).toMatchObject({ cause: 'tokenInvalid', why: message });
});

describe('a token in a binary message', () => {
  test('is accepted if the dialect says so', async () => {
    const emulator = await silent({ stream: { binaryToken: 'accept' } });
    await (await present(emulator, Buffer.from(await emulator.token('d')))).connected;
  });

  test('is an invalid token if the dialect says so', async () => {
    const emulator = await silent({ stream: { binaryToken: 'refuse' } });
    const client = await present(emulator, Buffer.from(await emulator.token('d')));
    expect(await client.closed).toMatchObject({ code: 4401 });
  });
});

describe('time', () => {
  test('ends a stream that hears nothing for too long, and no other', async () => {
    const clock = createManualClock();
    const emulator = await startEmulator({
      reply: 'echo',
      clock,
      dialect: { stream: { idleTimeoutMs: 10_000 } },
    });
    const client = await emulator.connect('d');
    clock.advance(9_000);
    await client.send(Buffer.alloc(640));
    await client.until(() => client.audio.length === 640);
    clock.advance(9_999);
    expect(emulator.events.some(({ type }) => type === 'stream-closed')).toBe(false);
    clock.advance(1);
    expect(await client.closed).toEqual({ code: 4408, reason: 'Nothing arrived for too long' });
    expect(await emulator.event('stream-closed')).toMatchObject({ cause: 'idle' });
  });

  test('ends a stream at its longest duration, however busy it is', async () => {
    const clock = createManualClock();
    const emulator = await silent({ stream: { longestSessionMs: 5_000 } }, { clock });
    const client = await emulator.connect('d');
    clock.advance(4_999);
    expect(emulator.events.some(({ type }) => type === 'stream-closed')).toBe(false);
    clock.advance(1);
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(await emulator.event('stream-closed')).toMatchObject({ cause: 'sessionTooLong' });
  });
});

describe('the included dialects', () => {
  const folder = join(import.meta.dirname, '..', '..', 'examples', 'dialects');
  const dialects = readdirSync(folder).map(
    (name) => [name, readFileSync(join(folder, name), 'utf8')] as const,
  );

  test.each(dialects)('a client can hold a session in %s', async (name, text) => {
    const emulator = await startEmulator({ reply: 'echo', dialect: readDialect(text, name) });
    const client = await emulator.connect('d');
    await client.send(Buffer.alloc(640));
    await client.until(() => client.audio.length === 640);
  });

  test.skipIf(!hasForeignClient).each(dialects)(
    '%s is understood by a foreign client',
    async (name, text) => {
      const emulator = await startEmulator({ reply: 'echo', dialect: readDialect(text, name) });
      const report = await runForeignClient(emulator.baseUrl, [
        '--quiet',
        '1',
        '--wait',
        '5',
        '--mode',
        'session',
      ]);
      expect(report.stream).toMatchObject({ connected: true, audioBytesIn: 32_000 });
    },
  );
});
