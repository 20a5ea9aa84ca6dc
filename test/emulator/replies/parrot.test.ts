import { describe, expect, test } from 'vitest';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { fixturePcm } from '../../helpers/fixtures.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { silence, speech } from '../../helpers/pcm.ts';

const startEmulator = setUpEmulators();
const hello = fixturePcm('hello.wav');

const statuses = (messages: Record<string, unknown>[]) =>
  messages.flatMap((message) => (message.type === 'status' ? [message.status] : []));

const start = async (options = {}) => {
  const emulator = await startEmulator({ reply: 'parrot', ...options });
  const client = await emulator.connect('d');
  const say = (pcm: Buffer) => {
    for (let at = 0; at < pcm.length; at += 640) client.socket.send(pcm.subarray(at, at + 640));
  };
  return { emulator, client, say };
};

/** Speech is the part of the fixture between its 150 ms and 300 ms of room. */
const words = hello.subarray(150 * 32, hello.length - 300 * 32);

describe('parrot', () => {
  test('is the default reply of an emulator', async () => {
    const emulator = await startEmulator();
    const client = await emulator.connect();
    await client.until(() => statuses(client.messages).length === 1);
  });

  test('repeats the turn: at least 95 % of it, sample by sample', async () => {
    const { emulator, client, say } = await start();
    say(Buffer.concat([hello, silence(1_000)]));
    await client.until(() => statuses(client.messages).length === 3);
    const heard = client.audio;
    const kept = Math.ceil(words.length * 0.95);
    const slack = words.length - kept;
    const found = Array.from({ length: slack / 2 + 1 }, (_, i) => words.subarray(i * 2, i * 2 + kept));
    expect(found.some((run) => heard.includes(run))).toBe(true);
    expect(statuses(client.messages)).toEqual(['listening', 'speaking', 'listening']);
    const order = client.heard.map((item) => (Buffer.isBuffer(item) ? 'audio' : (item.status ?? item.type)));
    expect([...new Set(order)]).toEqual(['service_voice_connected', 'listening', 'speaking', 'audio']);
    expect(order.at(-1)).toBe('listening');
    const types = emulator.events.map(({ type }) => type).filter((type) => /^(turn|reply)-/.test(type));
    expect(types).toEqual(['turn-started', 'turn-ended', 'reply-started', 'reply-ended']);
    expect(await emulator.event('reply-ended')).toMatchObject({ device: 'd', bargeIn: false });
  });

  test('stops as soon as the user talks over it', async () => {
    const { emulator, client, say } = await start();
    say(Buffer.concat([hello, silence(1_000)]));
    await client.until(() => client.audio.length > 0);
    say(fixturePcm('barge-in.wav'));
    expect(await emulator.event('reply-ended')).toMatchObject({ bargeIn: true });
    await client.until(() => statuses(client.messages).length === 3);
    expect(statuses(client.messages)).toEqual(['listening', 'speaking', 'listening']);
    expect(client.audio.length).toBeLessThan(words.length);
    const stopped = client.heard.length;
    client.socket.send('anything');
    await client.until(() => client.messages.some(({ type }) => type === 'error'));
    expect(client.heard.slice(stopped).some((item) => Buffer.isBuffer(item))).toBe(false);
  });

  test('replies to a device that simply stops sending when its user does', async () => {
    const clock = createManualClock();
    const { emulator, client, say } = await start({ clock });
    say(speech(500));
    await emulator.event('turn-started');
    client.socket.send('all was heard');
    await emulator.event('text-received');
    clock.advance(700);
    expect(await emulator.event('turn-ended')).toMatchObject({ turnMs: 500, agoMs: 700 });
    await client.until(() => statuses(client.messages).length === 2);
    await clock.run(1_000, 20);
    await client.until(() => statuses(client.messages).length === 3);
    expect(client.audio.includes(speech(500))).toBe(true);
  });

  test.each([20, 60, 100])('speaks in frames of the dialect: %i ms', async (replyFrameMs) => {
    const clock = createManualClock();
    const { client, say, emulator } = await start({ clock, dialect: { stream: { replyFrameMs } } });
    say(Buffer.concat([speech(600), silence(1_000)]));
    await emulator.event('reply-started');
    await clock.run(3_000, 20);
    await client.until(() => statuses(client.messages).length === 3);
    const sizes = client.heard.flatMap((item) => (Buffer.isBuffer(item) ? item.length : []));
    expect(new Set(sizes.slice(0, -1))).toEqual(new Set([replyFrameMs * 32]));
  });

  test('gives each of many streams its own words back', async () => {
    const emulator = await startEmulator({ reply: 'parrot' });
    const texts = [
      fixturePcm('hello.wav'),
      fixturePcm('barge-in.wav'),
      fixturePcm('hello.wav').subarray(0, 32_000),
    ];
    const clients = await Promise.all(texts.map((_, i) => emulator.connect(`device-${i}`)));
    clients.forEach((client, i) => {
      client.socket.send(Buffer.concat([texts[i]!, silence(1_000)]));
    });
    await Promise.all(clients.map((client) => client.until(() => statuses(client.messages).length === 3)));
    const middles = texts.map((pcm) => pcm.subarray(400 * 32, 600 * 32));
    clients.forEach((client, i) => {
      expect(client.audio.includes(middles[i]!)).toBe(true);
    });
  });
});
