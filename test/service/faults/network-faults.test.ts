import { once } from 'node:events';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request } from 'node:https';
import { describe, expect, test } from 'vitest';
import { createEmulator } from '../../../src/emulator/emulator.ts';
import { waitUntil } from '../../../src/kernel/clock.ts';
import type { NetworkProfile } from '../../../src/protocol/network.ts';
import { toneFrame } from '../../helpers/device-exchanges.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { hastyClock as clock, hasten } from '../../helpers/hasten.ts';
import { setUpProxies } from '../../helpers/proxies.ts';
import { openStream, type StreamClient } from '../../helpers/stream-client.ts';

const startEmulator = setUpEmulators();
const startProxy = setUpProxies();
const frame = (number: number) => Buffer.alloc(640, number);

/** A token, over TLS. */
function askSecurely(baseUrl: string, ca: string): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asked = request(`${baseUrl}/api/websocket-voice/token`, {
      method: 'POST',
      headers,
      ca,
      agent: false,
    });
    asked.on('error', reject).on('response', async (answer) => {
      const chunks = await answer.toArray();
      resolve(JSON.parse(Buffer.concat(chunks).toString()).token);
    });
    asked.end('{"apiKey":"key-1","deviceId":"lamp"}');
  });
}

/** What work takes on the moved clock. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = clock.now();
  await hasten(clock, work());
  return clock.now() - began;
}

describe('an emulated network', () => {
  test('delays a token by two round trips, and a stream by the same and two more', async () => {
    const emulator = await startEmulator({ clock, reply: 'echo', faults: ['network:latency=100ms'] });
    expect(await timed(() => emulator.requestToken())).toBeGreaterThanOrEqual(400);
    const client = emulator.open();
    expect(await timed(() => client.opened)).toBeGreaterThanOrEqual(400);
    const token = await hasten(clock, emulator.token());
    const confirmed = await timed(async () => {
      await client.send(token);
      await client.connected;
    });
    expect(confirmed).toBeGreaterThanOrEqual(200);
    const echoed = await timed(async () => {
      for (const number of [1, 2, 3]) await client.send(frame(number));
      await client.until(() => client.audio.length >= 1_920);
    });
    expect(echoed).toBeGreaterThanOrEqual(200);
    expect(client.audio.equals(Buffer.concat([1, 2, 3].map(frame)))).toBe(true);
    expect(emulator.events.filter(({ type }) => type === 'fault-struck')).toMatchObject([
      { fault: 'network', id: 1 },
      { fault: 'network', id: 1 },
    ]);
  });

  test.each<NetworkProfile>(['lossy-wifi', 'slow-3g', 'satellite'])(
    '%s loses nothing and keeps the order, under TLS too, and a close passes',
    async (profile) => {
      const faults = [{ name: 'network' as const, profile }];
      const emulator = await startEmulator({ clock, reply: 'echo', seed: 3, tls: true, faults });
      const ca = emulator.certificate ?? '';
      const token = await hasten(clock, askSecurely(emulator.baseUrl, ca));
      const client = openStream(emulator.wsUrl, { ca });
      await hasten(clock, client.opened);
      await client.send(token);
      await hasten(clock, client.connected);
      for (let number = 0; number < 100; number += 1) await client.send(frame(number));
      await hasten(
        clock,
        client.until(() => client.audio.length === 64_000),
      );
      expect([...Array(100).keys()].every((number) => client.audio[640 * number] === number)).toBe(true);
      client.socket.close(4_000);
      await hasten(clock, client.closed);
      expect(await hasten(clock, emulator.event('stream-closed'))).toMatchObject({ code: 4_000 });
    },
  );

  test('can be set, seen, changed and cleared under an open stream', async () => {
    const emulator = await startEmulator({ clock, reply: 'echo', faults: ['network:profile=none'] });
    const client = await hasten(clock, emulator.connect());
    const echo = (number: number) =>
      timed(async () => {
        const before = client.audio.length;
        await client.send(frame(number));
        await client.until(() => client.audio.length > before);
      });
    expect(await echo(1)).toBeLessThan(100);
    const { id } = emulator.control.faults.add('network:latency=300ms');
    expect(emulator.control.state().faults).toMatchObject([
      { name: 'network', profile: 'none' },
      { name: 'network', latency: 300 },
    ]);
    expect(await echo(2)).toBeGreaterThanOrEqual(600);
    emulator.control.faults.clear(id);
    expect(await echo(3)).toBeLessThan(100);
  });

  test('that is offline holds everything until it is back, and the emulator can still be closed', async () => {
    const emulator = await startEmulator({ clock, reply: 'echo', faults: ['network:profile=none'] });
    const client = await hasten(clock, emulator.connect());
    const { id } = emulator.control.faults.add('network:profile=offline');
    await client.send(frame(1));
    await timed(() => new Promise((resolve) => clock.after(5_000, () => resolve(undefined))));
    expect(client.audio).toHaveLength(0);
    emulator.control.faults.clear(id);
    await hasten(
      clock,
      client.until(() => client.audio.length === 640),
    );
    emulator.control.faults.add('network:profile=offline');
    await hasten(clock, emulator.close());
    expect(await client.closed).toMatchObject({ code: 1006 });
  });

  test('does not affect the control API, which ends it, and counts only its devices', async () => {
    const emulator = await startEmulator({ clock, reply: 'echo', faults: ['network:profile=none'] });
    // On a connection of its own, as another program asks.
    const control = async (method: string, path: string): Promise<unknown> => {
      const asked = requestPlain(`${emulator.baseUrl}/__voicectl${path}`, { method, agent: false }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      return JSON.parse(Buffer.concat(await answer.toArray()).toString());
    };
    const client = await hasten(clock, emulator.connect());
    const before = emulator.control.state().faults[0]?.struck;
    emulator.control.faults.add('network:profile=offline');
    await client.send(frame(1));
    // Nothing moves the clock, and nothing of the network is in between.
    const { faults } = (await control('GET', '/state')) as { faults: { name: string; struck: number }[] };
    expect(faults.map(({ name }) => name)).toEqual(['network', 'network']);
    expect(faults[0]?.struck).toBe(before);
    expect(client.audio).toHaveLength(0);
    expect(await control('POST', '/faults/clear')).toEqual({ cleared: 2 });
    await hasten(
      clock,
      client.until(() => client.audio.length === 640),
    );
  });

  test('is the same under a proxy, and no side is blamed for it', async () => {
    await using service = await createEmulator({ clock, reply: 'echo' });
    const proxy = await startProxy(service, { clock, faults: ['network:latency=100ms,jitter=50ms'] });
    const answer = await hasten(
      clock,
      fetch(`${proxy.baseUrl}/api/websocket-voice/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"apiKey":"key-1","deviceId":"lamp"}',
      }).then((response) => response.json() as Promise<{ token: string }>),
    );
    const said = [...Array(50).keys()].map(toneFrame);
    const client = openStream(proxy.wsUrl);
    const opened = await timed(() => client.opened);
    expect(opened).toBeGreaterThanOrEqual(300);
    await hasten(
      clock,
      client.send(answer.token).then(() => client.connected),
    );
    const echoed = await timed(async () => {
      for (let number = 0; number < 50; number += 1) await client.send(said[number] ?? '');
      await client.until(() => client.audio.length === 50 * 640);
    });
    expect(echoed).toBeGreaterThanOrEqual(100);
    expect(client.audio.equals(Buffer.concat(said))).toBe(true);
    client.socket.close(1_000);
    await hasten(clock, client.closed);
    await hasten(clock, proxy.close());
    expect(proxy.events.find(({ type }) => type === 'stream-closed')).toMatchObject({ code: 1_000 });
    expect(proxy.events.filter(({ type }) => type === 'violation' || type === 'remark')).toEqual([]);
  });
});

/** Talks in real time, `until` it may stop. */
async function talk({ socket }: StreamClient, until: () => boolean): Promise<void> {
  const startedAt = clock.now();
  for (let index = 0; !until(); index += 1) {
    socket.send(toneFrame(index));
    await waitUntil(clock, startedAt + 20 * (index + 1));
  }
}

describe('a device is not blamed for', () => {
  const networks = ['latency=150ms,loss=10%', 'profile=satellite,loss=3%', 'profile=edge,upload=200kbit'];

  test.each(networks)('the pace at which its audio leaves a network: %s', async (network) => {
    const target = await startEmulator({ clock, reply: 'silence' });
    const faults = [`network:${network}`];
    const emulator = await startEmulator({ clock, reply: 'silence', faults, seed: 5 });
    const proxy = await startProxy(target, { clock, faults, seed: 5 });
    for (const { events, wsUrl } of [emulator, proxy]) {
      const token = await hasten(clock, (wsUrl === proxy.wsUrl ? target : emulator).token());
      const client = openStream(wsUrl);
      await hasten(clock, client.opened);
      client.socket.send(token);
      await hasten(clock, client.connected);
      const endAt = clock.now() + 4_400;
      await hasten(
        clock,
        talk(client, () => clock.now() >= endAt),
      );
      client.socket.close(1000);
      await hasten(
        clock,
        (async () => {
          while (!events.some(({ type }) => type === 'stream-closed'))
            await waitUntil(clock, clock.now() + 100);
        })(),
      );
      const verdicts = events.flatMap((event) => (event.type === 'device-verdict' ? [event.remarks] : []));
      expect(verdicts.flat()).toEqual([]);
      expect(events.filter(({ type }) => type === 'violation' || type === 'remark')).toEqual([]);
    }
  });

  test('an answer that an emulator which stops does not wait for', async () => {
    const emulator = await startEmulator({ clock, reply: 'silence', faults: ['network:latency=900ms'] });
    const { socket } = await hasten(clock, emulator.connect());
    // ws answers a close frame by a call of `close`.
    socket.close = () => {};
    const closed = emulator.event('stream-closed');
    await hasten(clock, emulator.close());
    expect(await closed).toMatchObject({ code: 1001, sentCode: 1001 });
  });

  test.each([
    ['a close has not reached it', 0, undefined],
    ['a close has reached it', 1_000, expect.any(Number)],
  ])('audio that it sends while %s: %i ms more', async (_what, moreMs, bytesAfterClose) => {
    const emulator = await startEmulator({ clock, reply: 'silence', faults: ['network:latency=900ms'] });
    const client = await hasten(clock, emulator.connect());
    const { socket } = client;
    let closedAt = Number.POSITIVE_INFINITY;
    // ws answers a close frame by a call of `close`.
    const { close } = socket;
    socket.close = (...given) => {
      closedAt = clock.now();
      if (moreMs === 0) close.apply(socket, given);
    };
    const talking = talk(client, () => clock.now() >= closedAt + moreMs);
    emulator.control.close({}, 1012, '');
    await hasten(clock, talking);
    if (moreMs > 0) close.call(socket, 1012);
    const closed = await hasten(clock, emulator.event('stream-closed'));
    expect(closed).toMatchObject({ code: 1012, sentCode: 1012 });
    expect(closed.bytesAfterClose).toEqual(bytesAfterClose);
  });
});
