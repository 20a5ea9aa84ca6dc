import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import type { DialectInput } from '../../../src/protocol/dialect.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

const startEmulator = setUpEmulators();
type Stream = NonNullable<DialectInput['stream']>;

/** Resolves when the emulator has taken all that was sent before. */
const answered = (socket: WebSocket) =>
  new Promise((resolve) => {
    socket.once('pong', resolve);
    socket.ping();
  });
const frame = (number: number, bytes = 640) => Buffer.alloc(bytes, number % 256);

test('a token that is accepted is confirmed by the first message', async () => {
  const emulator = await startEmulator({ reply: 'silence' });
  const client = await emulator.connect('device-1');
  expect(client.messages).toEqual([{ type: 'service_voice_connected' }]);
  expect(await emulator.event('stream-authorised')).toMatchObject({ device: 'device-1', connections: 1 });
});

describe('audio before the token', () => {
  test('is processed after it, in order, with none lost', async () => {
    const emulator = await startEmulator({ reply: 'echo' });
    const token = await emulator.token();
    const client = emulator.open();
    await client.opened;
    const frames = Array.from({ length: 100 }, (_, i) => frame(i));
    for (const pcm of frames.slice(0, 40)) client.socket.send(pcm);
    client.socket.send(token);
    for (const pcm of frames.slice(40)) client.socket.send(pcm);
    await client.until(() => client.audio.length === 64_000);
    expect(client.heard[0]).toEqual({ type: 'service_voice_connected' });
    expect(client.audio.equals(Buffer.concat(frames))).toBe(true);
  });

  test('is not processed without one', async () => {
    const emulator = await startEmulator({ reply: 'echo' });
    const client = emulator.open();
    await client.opened;
    for (let i = 0; i < 10; i += 1) client.socket.send(frame(i));
    client.socket.send('no token');
    expect(await client.closed).toEqual({ code: 4401, reason: 'The token is not valid' });
    expect(client.audio).toHaveLength(0);
    expect(await emulator.event('stream-closed')).toMatchObject({
      framesIn: 0,
      bytesIn: 0,
      device: undefined,
    });
  });

  test('is held within a bound of the dialect', async () => {
    const emulator = await startEmulator({ reply: 'echo', dialect: { stream: { earlyAudioBytes: 1_280 } } });
    const client = emulator.open();
    await client.opened;
    for (let i = 0; i < 3; i += 1) client.socket.send(frame(i));
    expect(await client.closed).toMatchObject({ code: 1008 });
    expect(client.messages).toEqual([
      { type: 'error', error: { code: 'TOO_MUCH_AUDIO_BEFORE_TOKEN', message: expect.any(String) } },
    ]);
    expect(await emulator.event('stream-closed')).toMatchObject({ cause: 'earlyAudioOverflow' });
  });

  test('that is exactly at the bound is held', async () => {
    const emulator = await startEmulator({ reply: 'echo', dialect: { stream: { earlyAudioBytes: 1_280 } } });
    const token = await emulator.token();
    const client = emulator.open();
    await client.opened;
    for (let i = 0; i < 2; i += 1) client.socket.send(frame(i));
    client.socket.send(token);
    await client.until(() => client.audio.length === 1_280);
  });

  test('is held to the bound of the dialect, also in more than 4,096 messages', async () => {
    const emulator = await startEmulator({
      reply: 'silence',
      dialect: { stream: { earlyAudioBytes: 4_200 * 640 } },
    });
    const token = await emulator.token();
    const client = emulator.open();
    await client.opened;
    for (let i = 0; i < 4_200; i += 1) client.socket.send(frame(i));
    client.socket.send(token);
    await client.connected;
    client.socket.close();
    expect(await emulator.event('stream-closed')).toMatchObject({ framesIn: 4_200, code: 1005 });
  });

  test('is bounded even if every message is empty', async () => {
    const emulator = await startEmulator();
    const client = emulator.open();
    await client.opened;
    for (let i = 0; i < 5_000; i += 1) client.socket.send(Buffer.alloc(0));
    expect(await client.closed).toMatchObject({ code: 1008 });
  });

  test('is heard only up to a message that closes the stream', async () => {
    const emulator = await startEmulator({ reply: 'echo', dialect: { stream: { oddBytes: 'close' } } });
    const token = await emulator.token();
    const client = emulator.open();
    await client.opened;
    for (const bytes of [640, 641, 640, 640]) client.socket.send(frame(1, bytes));
    client.socket.send(token);
    expect(await client.closed).toMatchObject({ code: 1007 });
    expect(client.audio).toHaveLength(640);
    expect(await emulator.event('stream-closed')).toMatchObject({ framesIn: 2, cause: 'oddBytes' });
  });

  test.each([
    ['the token comes late', [], 100],
    ['the confirmation comes late', ['connected-late:delay=2s'], 0],
  ])('in real time has the pace of real time: %s', async (_why, faults, tokenAt) => {
    const clock = createManualClock();
    const emulator = await startEmulator({ reply: 'silence', clock, faults });
    const token = await emulator.token();
    const client = emulator.open();
    await client.opened;
    for (let index = 0; index < 250; index += 1) {
      if (index === tokenAt) client.socket.send(token);
      client.socket.send(frame(index));
      await answered(client.socket);
      clock.advance(20);
    }
    client.socket.close(1000);
    await emulator.event('stream-closed');
    const verdicts = emulator.events.flatMap((event) => (event.type === 'device-verdict' ? [event] : []));
    expect(verdicts).toMatchObject([{ pace: { timesRealTime: 1, burstMessages: 0 }, remarks: [] }]);
    expect(await emulator.event('stream-closed')).toMatchObject({ framesIn: 250 });
  });
});

describe('without a token', () => {
  test('a stream is warned, and closed after five seconds', async () => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock });
    const client = emulator.open();
    await client.opened;
    await emulator.event('stream-opened');
    clock.advance(4_999);
    expect(emulator.events.some(({ type }) => type === 'stream-closed')).toBe(false);
    clock.advance(1);
    expect(await client.closed).toEqual({ code: 4408, reason: 'No token arrived in time' });
    expect(client.messages).toEqual([
      { type: 'error', error: { code: 'TOKEN_TIMEOUT', message: 'No token arrived in time' } },
    ]);
  });

  test('the deadline is the dialect’s, and audio does not extend it', async () => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, dialect: { stream: { tokenDeadlineMs: 100 } } });
    const client = emulator.open();
    await client.opened;
    await client.send(frame(1));
    await emulator.event('stream-opened');
    clock.advance(100);
    expect(await client.closed).toMatchObject({ code: 4408 });
  });

  test('a token that is missing at a short deadline is reported once, before the stream is closed', async () => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, dialect: { stream: { tokenDeadlineMs: 1_200 } } });
    const client = emulator.open();
    await client.opened;
    await emulator.event('stream-opened');
    clock.advance(1_199);
    expect(emulator.events.some(({ type }) => type === 'token-problem')).toBe(false);
    clock.advance(1);
    await client.closed;
    const told = emulator.events.flatMap((event) => (event.type === 'token-problem' ? [event.advice] : []));
    expect(told).toEqual([expect.stringContaining('within 1.2 s (1.2 s have passed)')]);
  });

  test('the deadline no longer applies once a token was presented', async () => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, reply: 'echo' });
    const client = await emulator.connect();
    clock.advance(10_000);
    await client.send(frame(1));
    await client.until(() => client.audio.length === 640);
  });
});

const secret = 'a test secret of more than 32 bytes';
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const sign = (header: object, claims: object, key = secret) => {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
};

test('none of the bad tokens opens a stream', async () => {
  const clock = createManualClock();
  const emulator = await startEmulator({ clock, dialect: { token: { secret } } });
  const nowSeconds = clock.wall() / 1000;
  const header = { alg: 'HS256', typ: 'JWT' };
  const claims = {
    sub: 'd',
    iat: nowSeconds,
    exp: nowSeconds + 60,
    aud: 'voice-api',
    iss: 'voicectl-emulator',
    jti: 'j',
  };
  const bad = {
    'alg none': `${part({ alg: 'none' })}.${part(claims)}.`,
    'another key': sign(header, claims, 'another secret that nobody knows'),
    'another issuer': sign(header, { ...claims, iss: 'x' }),
    'another audience': sign(header, { ...claims, aud: 'x' }),
    'no jti': sign(header, { ...claims, jti: undefined }),
    'a year': sign(header, { ...claims, exp: nowSeconds + 31_536_000 }),
    'from the future': sign(header, { ...claims, iat: nowSeconds + 30, exp: nowSeconds + 90 }),
    'of yesterday': sign(header, { ...claims, iat: nowSeconds - 90, exp: nowSeconds - 30 }),
    '5 KiB': sign(header, { ...claims, more: 'x'.repeat(5_120) }),
    'no JWT': 'hello',
    empty: '',
  };
  for (const [name, token] of Object.entries(bad)) {
    const client = emulator.open();
    await client.opened;
    client.socket.send(token);
    expect(await client.closed, name).toMatchObject({ code: 4401 });
    expect(client.messages, name).toMatchObject([{ type: 'error' }]);
  }
  expect(emulator.events.some(({ type }) => type === 'stream-authorised')).toBe(false);
  const client = emulator.open();
  await client.opened;
  client.socket.send(sign(header, claims));
  await client.connected;
});

test('an expired token is distinguished from an invalid one', async () => {
  const clock = createManualClock();
  const emulator = await startEmulator({ clock });
  const token = await emulator.token();
  clock.advance(60_000);
  const client = emulator.open();
  await client.opened;
  client.socket.send(token);
  expect(await client.closed).toEqual({ code: 4401, reason: 'The token has expired' });
  expect(client.messages).toMatchObject([{ error: { code: 'TOKEN_EXPIRED' } }]);
});

describe('one token', () => {
  test('that 100 connections present at once opens exactly one stream', async () => {
    const emulator = await startEmulator({ reply: 'silence' });
    const token = await emulator.token();
    const clients = Array.from({ length: 100 }, () => emulator.open());
    await Promise.all(clients.map(({ opened }) => opened));
    for (const { socket } of clients) socket.send(token);
    const outcomes = await Promise.allSettled(clients.map(({ connected }) => connected));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = clients.filter((_client, i) => outcomes[i]?.status === 'rejected');
    const ends = await Promise.all(refused.map(({ closed }) => closed));
    expect(new Set(ends.map(({ code, reason }) => `${code} ${reason}`))).toEqual(
      new Set(['4401 The token has been used already']),
    );
  });

  test('does not take the slots of good tokens when it is replayed', async () => {
    const emulator = await startEmulator({ reply: 'silence', maxConnections: 2 });
    const token = await emulator.token();
    const [replays, good] = [Array.from({ length: 50 }, () => emulator.open()), emulator.open()];
    await Promise.all([...replays, good].map(({ opened }) => opened));
    const goodToken = await emulator.token();
    for (const { socket } of replays.slice(0, 25)) socket.send(token);
    good.socket.send(goodToken);
    for (const { socket } of replays.slice(25)) socket.send(token);
    await good.connected;
  });

  test('opens no second stream in another encoding of its signature', async () => {
    const emulator = await startEmulator({ reply: 'silence', dialect: { token: { secret } } });
    const token = await emulator.token();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const encodings = [0, 1, 2, 3].map(
      (bits) => token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1)!) ^ bits],
    );
    const clients = encodings.map(() => emulator.open());
    await Promise.all(clients.map(({ opened }) => opened));
    clients.forEach(({ socket }, i) => {
      socket.send(encodings[i]!);
    });
    const outcomes = await Promise.allSettled(clients.map(({ connected }) => connected));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('opens many streams if the dialect allows it', async () => {
    const emulator = await startEmulator({ reply: 'silence', dialect: { token: { singleUse: false } } });
    const token = await emulator.token();
    for (let i = 0; i < 3; i += 1) {
      const client = emulator.open();
      await client.opened;
      client.socket.send(token);
      await client.connected;
    }
  });
});

describe('connections of one device', () => {
  test('are exactly 10 of 50 that come at once, and the others learn why', async () => {
    const emulator = await startEmulator({ reply: 'silence' });
    const tokens = await Promise.all(Array.from({ length: 50 }, () => emulator.token('d')));
    const clients = tokens.map(() => emulator.open());
    await Promise.all(clients.map(({ opened }) => opened));
    clients.forEach(({ socket }, i) => {
      socket.send(tokens[i]!);
    });
    const outcomes = await Promise.allSettled(clients.map(({ connected }) => connected));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    const refused = clients.filter((_client, i) => outcomes[i]?.status === 'rejected');
    for (const client of refused) {
      expect(await client.closed).toMatchObject({ code: 4429 });
      expect(client.messages).toMatchObject([{ error: { code: 'CONNECTION_LIMIT_EXCEEDED' } }]);
    }
    await emulator.connect('another');
  });

  test('make room as soon as one is closed, by either side in any way', async () => {
    const emulator = await startEmulator({ reply: 'silence', maxConnections: 1 });
    const leave = [
      (client: { socket: import('ws').WebSocket }) => client.socket.close(1000),
      (client: { socket: import('ws').WebSocket }) => client.socket.terminate(),
      (client: { socket: import('ws').WebSocket }) => client.socket.send(Buffer.alloc(1024 * 1024 + 1)),
    ];
    for (const [i, go] of leave.entries()) {
      const client = await emulator.connect('d');
      const { stream } = await emulator.event('stream-authorised', (event) => event.stream === i + 1);
      go(client);
      await emulator.event('stream-closed', (event) => event.stream === stream);
    }
    await emulator.connect('d');
  });

  test('do not lose their token if there is no room', async () => {
    const emulator = await startEmulator({ reply: 'silence', maxConnections: 1 });
    const first = await emulator.connect('d');
    const token = await emulator.token('d');
    const second = emulator.open();
    await second.opened;
    second.socket.send(token);
    expect(await second.closed).toMatchObject({ code: 4429 });
    first.socket.terminate();
    await emulator.event('stream-closed', ({ stream }) => stream === 1);
    const third = emulator.open();
    await third.opened;
    third.socket.send(token);
    await third.connected;
  });
});

describe('the dialect', () => {
  const closeOf = async (stream: Stream) => {
    const emulator = await startEmulator({ dialect: { stream } });
    const client = emulator.open();
    await client.opened;
    client.socket.send('no token');
    return { ...(await client.closed), messages: client.messages };
  };
  const words = { close: 4001, reason: 'go away', code: 'NOPE', message: 'not you' };

  test('words the close and the error before it', async () => {
    expect(await closeOf({ closes: { tokenInvalid: words } })).toEqual({
      code: 4001,
      reason: 'go away',
      messages: [{ type: 'error', error: { code: 'NOPE', message: 'not you' } }],
    });
  });

  test('leaves the error out', async () => {
    expect((await closeOf({ errorBeforeClose: false })).messages).toEqual([]);
  });

  test('shapes the error', async () => {
    const error = { shape: 'flat', kind: 'oops', fields: { more: 1 } } as const;
    const { messages } = await closeOf({ kindField: 'event', error, closes: { tokenInvalid: words } });
    expect(messages).toEqual([{ event: 'oops', code: 'NOPE', message: 'not you', more: 1 }]);
  });

  test.each([
    ['tokenTimeout', 'nothing'],
    ['tokenExpired', 'expired'],
    ['tokenReused', 'reused'],
    ['tooManyConnections', 'crowded'],
  ] as const)('words %s', async (cause, how) => {
    const clock = createManualClock();
    const emulator = await startEmulator({
      clock,
      reply: 'silence',
      maxConnections: how === 'crowded' ? 0 : 10,
      dialect: { stream: { closes: { [cause]: words } } },
    });
    const token = await emulator.token();
    if (how === 'reused') {
      const first = emulator.open();
      await first.opened;
      first.socket.send(token);
      await first.connected;
    }
    if (how === 'expired') clock.advance(60_000);
    const client = emulator.open();
    await client.opened;
    if (how === 'nothing') {
      await emulator.event('stream-opened');
      clock.advance(5_000);
    } else client.socket.send(token);
    expect(await client.closed).toEqual({ code: 4001, reason: 'go away' });
    expect(client.messages).toMatchObject([{ error: { code: 'NOPE', message: 'not you' } }]);
    const closed = await emulator.event('stream-closed', (event) => event.cause !== undefined);
    expect(closed).toMatchObject({ cause, code: 4001 });
  });
});
