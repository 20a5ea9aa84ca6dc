import { describe, expect, test } from 'vitest';
import type { DialectInput } from '../../../src/protocol/dialect.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

const startEmulator = setUpEmulators();
type Stream = NonNullable<DialectInput['stream']>;

const startStream = async (stream: Stream = {}, reply = 'echo') => {
  const emulator = await startEmulator({ reply, dialect: { stream } });
  return { emulator, client: await emulator.connect('d') };
};

describe('text after the token', () => {
  test('gets an error, and the stream continues', async () => {
    const { emulator, client } = await startStream();
    for (const text of ['hello', '', '{"type":"stop"}', 'null', 'x'.repeat(10_000)]) await client.send(text);
    await client.send(Buffer.alloc(640, 7));
    await client.until(() => client.audio.length === 640);
    const error = { code: 'UNEXPECTED_TEXT', message: 'Only binary audio is expected after the token' };
    expect(client.messages.slice(1)).toEqual(Array.from({ length: 5 }, () => ({ type: 'error', error })));
    expect(emulator.events.filter(({ type }) => type === 'text-received')).toHaveLength(5);
  });

  test('is ignored if the dialect says so', async () => {
    const { client } = await startStream({ textAfterToken: 'ignore' });
    await client.send('hello');
    await client.send(Buffer.alloc(640));
    await client.until(() => client.audio.length === 640);
    expect(client.messages).toHaveLength(1);
  });

  test('closes the stream if the dialect says so', async () => {
    const { client } = await startStream({ textAfterToken: 'close' });
    await client.send('hello');
    expect(await client.closed).toMatchObject({ code: 1008 });
    expect(client.messages.slice(1)).toMatchObject([{ error: { code: 'UNEXPECTED_TEXT' } }]);
  });
});

describe('messages of any size', () => {
  const sizes = [1, 641, 0, 3, 1_279, 2, 639, 0, 0, 5, 640];
  const messages = sizes.map((bytes, i) => Buffer.alloc(bytes, i + 1));

  test('lose no byte: half a sample is carried to the next one, and counted', async () => {
    const { emulator, client } = await startStream();
    for (const message of messages) await client.send(message);
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    await client.until(() => client.audio.length === total - (total % 2));
    expect(client.audio.equals(Buffer.concat(messages).subarray(0, total - (total % 2)))).toBe(true);
    const audio = client.heard.filter((item) => Buffer.isBuffer(item)) as Buffer[];
    expect(audio.every(({ length }) => length > 0 && length % 2 === 0)).toBe(true);
    client.socket.close();
    expect(await emulator.event('stream-closed')).toMatchObject({
      framesIn: 8,
      bytesIn: total,
      oddMessages: 6,
      emptyMessages: 3,
    });
  });

  test('lose their half samples if the dialect says so', async () => {
    const { client } = await startStream({ oddBytes: 'drop' });
    for (const message of messages) await client.send(message);
    const expected = Buffer.concat(messages.map((message) => message.subarray(0, message.length & ~1)));
    await client.until(() => client.audio.length === expected.length);
    expect(client.audio.equals(expected)).toBe(true);
  });

  test('close the stream at half a sample if the dialect says so', async () => {
    const { client } = await startStream({ oddBytes: 'close' });
    await client.send(Buffer.alloc(640));
    await client.send(Buffer.alloc(641));
    expect(await client.closed).toMatchObject({ code: 1007 });
    expect(client.audio).toHaveLength(640);
  });

  test('20,000 empty and odd ones are counted and nothing else happens', async () => {
    const { emulator, client } = await startStream({}, 'silence');
    for (let i = 0; i < 10_000; i += 1) {
      client.socket.send(Buffer.alloc(0));
      client.socket.send(Buffer.alloc(1));
    }
    client.socket.close();
    expect(await emulator.event('stream-closed')).toMatchObject({
      code: 1005,
      oddMessages: 10_000,
      emptyMessages: 10_000,
      framesIn: 10_000,
    });
  });
});

describe('the dialect', () => {
  test('shapes the first message and the status messages', async () => {
    const stream: Stream = {
      kindField: 'event',
      connected: { fields: { session: 's' } },
      status: { kind: 'state', stateField: 'now', states: { listening: 'ears open' }, fields: { more: 1 } },
    };
    const { client } = await startStream(stream, 'parrot');
    await client.until(() => client.messages.length === 2);
    expect(client.messages).toEqual([
      { event: 'service_voice_connected', session: 's' },
      { event: 'state', now: 'ears open', more: 1 },
    ]);
  });

  test('leaves status messages out', async () => {
    const { client } = await startStream({ status: { send: false } }, 'parrot');
    await client.send('text');
    await client.until(() => client.messages.length === 2);
    expect(client.messages).toMatchObject([{ type: 'service_voice_connected' }, { type: 'error' }]);
  });

  test.each([
    ['close', 4401],
    ['continue', undefined],
  ] as const)('says %s when the token of a stream expires', async (expiryDuringStream, code) => {
    const clock = createManualClock();
    const emulator = await startEmulator({
      clock,
      reply: 'echo',
      dialect: { stream: { expiryDuringStream } },
    });
    const client = await emulator.connect();
    /** There and back twice: the ping of a heartbeat has been answered then. */
    const echoTwice = async () => {
      for (const heard of [client.audio.length + 640, client.audio.length + 1_280]) {
        await client.send(Buffer.alloc(640));
        await client.until(() => client.audio.length === heard);
      }
    };
    for (const ms of [14_999, 15_000, 15_000, 15_000]) {
      clock.advance(ms);
      await echoTwice();
    }
    clock.advance(1);
    if (code === undefined) {
      await echoTwice();
      return;
    }
    expect(await client.closed).toEqual({ code, reason: 'The token of this stream has expired' });
    expect(client.messages.at(-1)).toMatchObject({ error: { code: 'TOKEN_EXPIRED' } });
  });
});
