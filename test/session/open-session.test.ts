import { describe, expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { type ClientEvent, type ClientSession, openSession } from '../../src/session/open-session.ts';
import { jwt } from '../helpers/device-exchanges.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { hasten } from '../helpers/hasten.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { setUpServices } from '../helpers/services.ts';
import { fixturePcm } from '../helpers/voicectl.ts';

const startEmulator = setUpEmulators();
const services = setUpServices();
const as = { apiKey: 'key-1', device: 'd1' };

/** A sound of which every message is another. */
const sound = Buffer.from(Array.from({ length: 3_200 }, (_, index) => index % 251));

/** The AI audio, once there is this much of it. */
async function hear(session: ClientSession, bytes: number): Promise<Buffer> {
  let heard = Buffer.alloc(0);
  for await (const event of session) {
    if (event.type === 'audio') heard = Buffer.concat([heard, event.pcm]);
    if (heard.length >= bytes) break;
  }
  return heard;
}

async function readAll(session: ClientSession): Promise<ClientEvent[]> {
  const events: ClientEvent[] = [];
  for await (const event of session) events.push(event);
  return events;
}

describe('a session', () => {
  test('sends audio, and hears what the service says', async () => {
    const { baseUrl } = await startEmulator({ reply: 'echo' });
    await using session = await openSession({ baseUrl, ...as });
    await session.send(sound.subarray(0, 641));
    expect(await hear(session, 640)).toEqual(sound.subarray(0, 640));
    await session.send(new Uint8Array(sound.subarray(641, 1281)));
    expect((await hear(session, 640))[0]).toBe(sound[640]);
  });

  test('hears a token that the service grants it on the stream, but not its own, and no error has one', async () => {
    const [own, granted] = [jwt(1), jwt(2).replace(/[^.]*$/, 'YW5vdGhlci1zaWduYXR1cmU')];
    const wsUrl = await services.ws((peer) => {
      peer.once('message', () => {
        peer.send('{"type":"service_voice_connected"}');
        peer.send(JSON.stringify({ type: 'resume', granted, own }));
        peer.send(JSON.stringify({ type: 'error', code: 'GONE', message: `not ${granted}` }));
        peer.close(1011);
      });
    });
    const baseUrl = wsUrl.replace(/^ws/, 'http');
    await using session = await openSession({ baseUrl, wsUrl, token: own, device: 'd1' });
    const heard: string[] = [];
    const failure = await (async () => {
      for await (const event of session) if (event.type === 'message') heard.push(JSON.stringify(event.body));
    })().catch((thrown: Error) => thrown);
    expect(heard.find((text) => text.includes('resume'))).toContain(`"granted":"${granted}"`);
    expect(heard.join()).not.toContain(own);
    expect(String(failure)).toContain('not [redacted]');
  });

  test('speaks in frames of 20 ms, pads the last one, and then sends a tail of silence', async () => {
    const emulator = await startEmulator({ reply: 'echo' });
    await using session = await openSession({ baseUrl: emulator.baseUrl, ...as });
    await session.speak(sound.subarray(0, 1_000), { pace: 'max', tailMs: 40 });
    const silence = Buffer.alloc(920 + 640);
    expect(await hear(session, 2_560)).toEqual(Buffer.concat([sound.subarray(0, 1_000), silence]));
    await session.close();
    const { framesIn, bytesIn } = await emulator.event('stream-closed');
    expect({ framesIn, bytesIn }).toEqual({ framesIn: 4, bytesIn: 2_560 });
  });

  test.each([
    ['pace', 'slow'],
    ['pace', 0],
    ['pace', Number.NaN],
    ['frameMs', 0],
    ['frameMs', -20],
    ['tailMs', 'long'],
    ['tailMs', -1],
    ['pase', 1],
  ])('does not speak with the %s %s, and sends nothing', async (name, value) => {
    const emulator = await startEmulator();
    await using session = await openSession({ baseUrl: emulator.baseUrl, ...as });
    const speaking = session.speak(sound, { pace: 'max', [name]: value } as never);
    await expect(speaking).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(name) });
    await session.close();
    expect(await emulator.event('stream-closed')).toMatchObject({ bytesIn: 0 });
  });

  test.each(['baseUrl', 'device', 'apiKey'] as const)('is refused without %s', async (name) => {
    const options = { baseUrl: 'http://127.0.0.1:9', ...as, [name]: undefined } as never;
    await expect(openSession(options)).rejects.toMatchObject({
      code: 'usage',
      message: `Invalid openSession options: ${name} is missing, expected string`,
    });
  });

  test('is refused with options that do not exist or are wrong, without the value of a key', async () => {
    const options = { baseUrl: 'http://127.0.0.1:9', device: 'd1', foo: 1, retries: -1 };
    const refused = await openSession({ ...options, apiKey: ['canary'] as never }).catch((thrown) => thrown);
    expect(refused).toMatchObject({ code: 'usage' });
    expect(refused.message).toMatch(/unknown option foo/);
    expect(refused.message).toMatch(/retries is -1/);
    expect(JSON.stringify([refused, refused.message])).not.toContain('canary');
    await expect(openSession(undefined as never)).rejects.toMatchObject({ code: 'usage' });
  });

  test('yields service messages from the first on, and the close as the last item', async () => {
    const emulator = await startEmulator({ reply: 'silence' });
    await using session = await openSession({ baseUrl: emulator.baseUrl, ...as });
    emulator.control.send({}, { json: { type: 'lights', on: true } });
    emulator.control.close({}, 1000, 'enough');
    const events = await readAll(session);
    expect(events[0]).toMatchObject({ type: 'message', category: 'connected' });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'message',
        category: 'other',
        kind: 'lights',
        body: { type: 'lights', on: true },
      }),
    );
    expect(events.at(-1)).toEqual({ type: 'close', code: 1000, reason: 'enough' });
    expect(await session.closed).toEqual({ code: 1000, reason: 'enough' });
  });

  test('gets a reply to real speech once the turn is over', async () => {
    const emulator = await startEmulator({ reply: 'parrot' });
    await using session = await openSession({ baseUrl: emulator.baseUrl, ...as });
    await session.speak(fixturePcm('hello.wav'), { pace: 'max', tailMs: 1_000 });
    expect((await hear(session, 640)).length).toBeGreaterThanOrEqual(640);
  });

  test('that closes itself ends without an error, after audio that was still on its way', async () => {
    const { baseUrl } = await startEmulator({ reply: 'echo' });
    const session = await openSession({ baseUrl, ...as });
    await session.send(sound.subarray(0, 640));
    const closing = session.close();
    expect(session.closed).toBe(closing);
    const events = await readAll(session);
    expect(events.filter(({ type }) => type === 'audio')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'close', code: 1000 });
  });

  test('that the service breaks off throws after everything that came, and also in speak', async () => {
    const emulator = await startEmulator({ reply: 'silence' });
    await using session = await openSession({ baseUrl: emulator.baseUrl, ...as });
    const speaking = session.speak(Buffer.alloc(32_000 * 60));
    speaking.catch(() => {});
    emulator.control.close({}, 4123, 'no more');
    await expect(readAll(session)).rejects.toMatchObject({
      code: 'stream-broken',
      details: { closeCode: 4123 },
    });
    await expect(speaking).rejects.toMatchObject({ code: 'stream-broken' });
    await expect(session.send(sound)).rejects.toMatchObject({ code: 'stream-broken' });
  });

  test('that is over accepts no more audio', async () => {
    const { baseUrl } = await startEmulator();
    const session = await openSession({ baseUrl, ...as });
    await session.close();
    await expect(session.send(sound)).rejects.toMatchObject({
      code: 'stream-broken',
      message: 'The session is over (close 1000)',
    });
  });

  test('stops speaking on its signal, and continues', async () => {
    const emulator = await startEmulator({ reply: 'echo' });
    await using session = await openSession({ baseUrl: emulator.baseUrl, ...as });
    const bargeIn = new AbortController();
    const speaking = session.speak(Buffer.alloc(32_000 * 60), { signal: bargeIn.signal });
    speaking.catch(() => {});
    await hear(session, 640);
    bargeIn.abort(new Error('the user talks'));
    await expect(speaking).rejects.toThrow('the user talks');
    await session.send(sound.subarray(0, 640));
    await hear(session, 640);
  });

  test('ends with its signal', async () => {
    const { baseUrl } = await startEmulator({ reply: 'silence' });
    const stop = new AbortController();
    const session = await openSession({ baseUrl, ...as, signal: stop.signal });
    stop.abort(new Error('the test is over'));
    await expect(readAll(session)).rejects.toThrow('the test is over');
    expect(await session.closed).toMatchObject({ code: 1000 });
  });

  test('pauses if nobody reads, loses nothing, and can be closed', async () => {
    const emulator = await startEmulator({ reply: 'echo' });
    await using session = await openSession({ baseUrl: emulator.baseUrl, ...as });
    const message = Buffer.alloc(256 * 1024, 1);
    for (let i = 0; i < 8; i += 1) await session.send(message);
    expect((await hear(session, 8 * message.length)).length).toBe(8 * message.length);
    for (let i = 0; i < 8; i += 1) await session.send(message);
    expect(await session.close()).toMatchObject({ code: 1000 });
  });
});

describe('opening a session', () => {
  test('presents a given token, and requests none', async () => {
    const emulator = await startEmulator();
    const token = await emulator.token('d1');
    await using _session = await openSession({ baseUrl: emulator.baseUrl, device: 'd1', token });
    expect(emulator.events.filter(({ type }) => type === 'token-issued')).toHaveLength(1);
  });

  test('works over TLS with the certificate of the emulator, and not without it', async () => {
    const { baseUrl, certificate } = await startEmulator({ tls: true });
    await expect(openSession({ baseUrl, ...as, retries: 0 })).rejects.toMatchObject({
      code: 'tls-failed',
      hint: expect.stringMatching(/ with ca\.$/),
    });
    await using session = await openSession({ baseUrl, ...as, ca: certificate });
    await session.send(sound);
  });

  test('is tried five times in all at a rate limit', async () => {
    const clock = createManualClock();
    const { baseUrl, requests } = await services.http((response) => response.writeHead(429).end());
    const opening = openSession({ baseUrl, ...as, clock });
    await expect(hasten(clock, opening)).rejects.toMatchObject({ code: 'rate-limited' });
    expect(requests).toHaveLength(5);
  });

  test('fails with the code of the refusal, and leaves no connection behind', async () => {
    const emulator = await startEmulator({ acceptKeys: ['key-2'], maxConnections: 1 });
    const { baseUrl } = emulator;
    await expect(openSession({ baseUrl, ...as })).rejects.toMatchObject({ code: 'auth-refused' });
    await using _first = await openSession({ baseUrl, device: 'd1', apiKey: 'key-2' });
    const second = openSession({ baseUrl, device: 'd1', apiKey: 'key-2' });
    await expect(second).rejects.toMatchObject({ code: 'too-many-connections' });
    await expect(openSession({ baseUrl, device: 'd2', token: 'not.a.token' })).rejects.toMatchObject({
      code: 'stream-refused',
    });
    await emulator.until(() => emulator.control.state().streams.length === 1);
  });

  test('that fails has a hint that names options, not flags', async () => {
    const { baseUrl } = await startEmulator();
    await expect(openSession({ baseUrl: `${baseUrl}/none`, ...as })).rejects.toMatchObject({
      hint: 'Check baseUrl, and apiVersion for the versioned path.',
      details: { status: 404 },
    });
    const wsUrl = `${baseUrl.replace('http', 'ws')}/none`;
    const opening = openSession({ baseUrl, wsUrl, device: 'd1', token: 'none' });
    await expect(opening).rejects.toMatchObject({
      hint: 'Check wsUrl; by default, the host of baseUrl is used.',
    });
  });

  test.each([
    ['http://voice.example', undefined],
    ['https://voice.example', 'ws://voice.example'],
  ])('refuses to send a key to %s and %s without TLS', async (baseUrl, wsUrl) => {
    const opening = openSession({ baseUrl, ...(wsUrl === undefined ? {} : { wsUrl }), ...as });
    await expect(opening).rejects.toMatchObject({ code: 'insecure-target', exitCode: 2 });
  });

  test('refuses anything but a URL', async () => {
    await expect(openSession({ baseUrl: 'voice.example', ...as })).rejects.toMatchObject({ code: 'usage' });
  });

  test('ends with its signal', async () => {
    await using emulator = await createEmulator();
    const reason = new Error('never mind');
    const opening = openSession({ baseUrl: emulator.baseUrl, ...as, signal: AbortSignal.abort(reason) });
    await expect(opening).rejects.toBe(reason);
  });
});
