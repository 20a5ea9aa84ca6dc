import { describe, expect, test } from 'vitest';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { hasten } from '../../helpers/hasten.ts';
import { createManualClock, type ManualClock } from '../../helpers/manual-clock.ts';

const startEmulator = setUpEmulators();
const pass = (clock: ManualClock, ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));

describe('a heartbeat', () => {
  test('cuts a peer that has not answered the last ping when the next is due, and frees its slot', async () => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, reply: 'echo', maxConnections: 1 });
    const client = await emulator.connect('d', { autoPong: false });
    const pinged = new Promise((resolve) => client.socket.once('ping', resolve));
    clock.advance(15_000);
    await pinged;
    expect((await emulator.requestToken('d')).status).toBe(200);
    expect(emulator.events.some(({ type }) => type === 'stream-closed')).toBe(false);
    clock.advance(15_000);
    expect(await client.closed).toMatchObject({ code: 1006 });
    expect(await emulator.event('stream-closed')).toMatchObject({ cause: 'half-open', code: 1006 });
    await emulator.connect('d');
  });

  test('does not disturb a peer that answers', async () => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, reply: 'echo' });
    const client = await emulator.connect('d');
    for (let beat = 1; beat <= 5; beat += 1) {
      clock.advance(15_000);
      // There and back twice: the pong was on its way before the second of them.
      for (const heard of [beat * 1_280 - 640, beat * 1_280]) {
        await client.send(Buffer.alloc(640));
        await client.until(() => client.audio.length === heard);
      }
    }
    expect(emulator.events.some(({ type }) => type === 'stream-closed')).toBe(false);
  });

  test('does not wait for a pong that a fault holds back', async () => {
    const clock = createManualClock();
    const faults = ['network:profile=none'];
    const emulator = await startEmulator({ clock, reply: 'echo', faults });
    const [deaf, offline] = [
      await hasten(clock, emulator.connect('a')),
      await hasten(clock, emulator.connect('b')),
    ];
    emulator.control.faults.add('deaf:device=a');
    emulator.control.faults.add('network:profile=offline');
    for (let beat = 0; beat < 4; beat += 1) await hasten(clock, pass(clock, 15_000));
    expect(emulator.events.some(({ type }) => type === 'stream-closed')).toBe(false);
    expect([deaf.socket.readyState, offline.socket.readyState]).toEqual([1, 1]);
  });

  test('sends another ping after a fault that may have held back the pong to the last', async () => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, reply: 'echo' });
    const client = await emulator.connect('d', { autoPong: false });
    const pinged = () => new Promise((resolve) => client.socket.once('ping', resolve));
    const first = pinged();
    clock.advance(15_000);
    await first;
    emulator.control.faults.add('stall:for=20s');
    clock.advance(20_000);
    const second = pinged();
    clock.advance(10_000);
    const closed = client.closed.then(() => 'closed');
    expect(await Promise.race([second.then(() => 'pinged'), closed])).toBe('pinged');
  });

  test('also cuts a peer that has not presented a token', async () => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, dialect: { stream: { tokenDeadlineMs: 600_000 } } });
    const client = emulator.open({ autoPong: false });
    await client.opened;
    await emulator.event('stream-opened');
    clock.advance(30_000);
    expect(await emulator.event('stream-closed')).toMatchObject({ cause: 'half-open' });
  });
});

test('connections without a token are limited, and make room when they end', async () => {
  const emulator = await startEmulator({ dialect: { stream: { tokenDeadlineMs: 600_000 } } });
  const clients: ReturnType<typeof emulator.open>[] = [];
  // So many at once may take longer than a request may.
  while (clients.length < 1_024) {
    const more = Array.from({ length: 64 }, () => emulator.open());
    await Promise.all(more.map(({ opened }) => opened));
    clients.push(...more);
  }
  await expect(emulator.open().opened).rejects.toThrow('HTTP 503');
  clients[0]?.socket.terminate();
  await emulator.event('stream-closed');
  await emulator.open().opened;
});

describe('a device is not blamed for a close that', () => {
  test.each([
    ['was answered while the emulator reads nothing', 'deaf'],
    ['was sent while the service is gone', 'half-open'],
    ['came with output that was held back', 'stall:for=60s'],
    ['could not pass the network', 'network:profile=offline'],
  ])('%s', async (_why, fault) => {
    const emulator = await startEmulator({ reply: 'silence', faults: ['network:profile=none'] });
    const [by, at] = [await emulator.connect('closed'), await emulator.connect('stopped')];
    emulator.control.faults.add(fault);
    for (const { socket } of [by, at]) socket.send(Buffer.alloc(32_000));
    emulator.control.close({ device: 'closed' }, 1012, '');
    await emulator.close();
    const closed = emulator.events.filter((event) => event.type === 'stream-closed');
    expect(closed.map(({ code, sentCode }) => ({ code, sentCode })).sort((a, b) => b.code - a.code)).toEqual([
      { code: 1012, sentCode: 1012 },
      { code: 1001, sentCode: 1001 },
    ]);
    for (const event of closed) {
      expect(event).not.toHaveProperty('bytesAfterClose');
      expect(event).not.toHaveProperty('level');
    }
  });
});

describe('shutting down', () => {
  test('closes each stream with 1001, with a token and without', async () => {
    const emulator = await startEmulator({ reply: 'silence' });
    const clients = [await emulator.connect('a'), await emulator.connect('b'), emulator.open()];
    await clients[2]?.opened;
    await emulator.event('stream-opened', ({ stream }) => stream === 3);
    await emulator.close();
    for (const client of clients) {
      expect(await client.closed).toEqual({ code: 1001, reason: 'The service is stopping' });
    }
    const closed = emulator.events.filter((event) => event.type === 'stream-closed');
    expect(closed).toMatchObject([{ cause: 'shutdown' }, { cause: 'shutdown' }, { cause: 'shutdown' }]);
  });

  test('is worded by the dialect', async () => {
    const closes = { shutdown: { close: 1012, reason: 'back soon' } };
    const emulator = await startEmulator({ reply: 'silence', dialect: { stream: { closes } } });
    const client = await emulator.connect();
    await emulator.close();
    expect(await client.closed).toEqual({ code: 1012, reason: 'back soon' });
  });

  test('does not wait for a peer that does not answer', async () => {
    const emulator = await startEmulator({ reply: 'silence' });
    const client = await emulator.connect();
    client.socket.pause();
    await emulator.close();
  });
});

test('what a stream has counted stays in the metrics while it closes', async () => {
  const emulator = await startEmulator({ clock: createManualClock(), reply: 'silence' });
  const client = await emulator.connect('d');
  for (let sent = 0; sent < 10; sent += 1) await client.send(Buffer.alloc(640));
  await expect.poll(() => emulator.control.state().streams[0]?.framesIn).toBe(10);
  // It does not answer the close.
  client.socket.pause();
  emulator.control.close({});
  expect(emulator.control.state().streams).toEqual([]);
  const text = await (await fetch(`${emulator.baseUrl}/__voicectl/metrics`)).text();
  expect(text).toMatch(/^voicectl_stream_messages_total\{direction="from_device"\} 10$/m);
});
