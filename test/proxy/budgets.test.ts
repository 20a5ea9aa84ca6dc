import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createEvidence, shortenText } from '../../src/proxy/evidence.ts';
import { openedUpgrade } from '../helpers/exchanges.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { converse } from '../helpers/proxied-device.ts';
import { setUpProxies } from '../helpers/proxies.ts';
import { setUpServices } from '../helpers/services.ts';

const services = setUpServices();
const startProxy = setUpProxies();
const MiB = 1024 * 1024;

async function openDevice(wsUrl: string): Promise<WebSocket> {
  const device = new WebSocket(`${wsUrl}/voice-stream`);
  device.on('error', () => {});
  await once(device, 'open');
  device.send('a.b.c');
  return device;
}

/** A service that sends these texts for the first message of a device, then closes. */
const sayAndClose = (texts: readonly string[]) =>
  services.ws((peer) => {
    peer.once('message', () => {
      peer.send('{"type":"service_voice_connected"}');
      for (const text of texts) peer.send(text);
      peer.close(1000);
    });
  });

async function receivedThrough(texts: readonly string[]) {
  const proxy = await startProxy({ wsUrl: await sayAndClose(texts) });
  const device = new WebSocket(`${proxy.wsUrl}/voice-stream`);
  const received: string[] = [];
  device.on('message', (text) => received.push(String(text)));
  device.once('open', () => device.send('a.b.c'));
  await once(device, 'close');
  await expect.poll(() => proxy.events.find(({ type }) => type === 'stream-closed')).toBeDefined();
  return {
    received: received.slice(1),
    proxy,
    closed: proxy.events.find(({ type }) => type === 'stream-closed'),
  };
}

describe('what a proxy keeps of a stream', () => {
  test('is its first messages: the others pass too, and are counted', async () => {
    const texts = Array.from({ length: 300 }, (_, at) => `{"type":"status","at":${at}}`);
    const { received, closed } = await receivedThrough(texts);
    expect(received).toEqual(texts);
    expect(closed).toMatchObject({ unjudged: expect.any(Number) });
    expect((closed as { unjudged: number }).unjudged).toBeGreaterThanOrEqual(100);
  });

  test('is the beginning of a long text, which passes whole and is held against nobody', async () => {
    const texts = [100_000, 2 * MiB].map((length) =>
      JSON.stringify({ type: 'status', text: 'x'.repeat(length) }),
    );
    const { received, proxy, closed } = await receivedThrough(texts);
    expect(received).toEqual(texts);
    expect(closed).toMatchObject({ unjudged: 2 });
    expect(proxy.events.filter((event) => event.type === 'violation' && event.rule === 'R39')).toEqual([]);
    expect(JSON.stringify(proxy.events).length).toBeLessThan(20_000);
  });

  test('is everything but most of the audio, once audio has used up its share of the memory', () => {
    const evidence = createEvidence(openedUpgrade(), { usedBytes: 16 * MiB });
    for (let at = 0; at < 5; at += 1) {
      for (const from of ['device', 'service'] as const)
        evidence.add({ at, from, opcode: 'binary', data: Buffer.alloc(1_000), bytes: 1_000 });
      evidence.add({ at, from: 'service', opcode: 'text', text: '{}', bytes: 2 });
    }
    const { messages } = evidence.exchange();
    expect(messages.map(({ from, opcode }) => `${from} ${opcode}`)).toEqual([
      'device binary',
      'service binary',
      ...Array(5).fill('service text'),
    ]);
    expect(messages[0]).toMatchObject({ bytes: 1_000, data: Buffer.alloc(640) });
    expect(evidence.isPartial).toBe(false);
  });

  test.each(['binary', 'text'] as const)('is partial without any %s message', (opcode) => {
    const evidence = createEvidence(openedUpgrade(), { usedBytes: 24 * MiB });
    const about = { at: 0, from: 'service' as const, bytes: 2 };
    evidence.add({ ...about, opcode: 'ping' });
    expect(evidence.isPartial).toBe(false);
    if (opcode === 'text') evidence.add({ ...about, opcode, text: '{}' });
    else evidence.add({ ...about, opcode, data: Buffer.alloc(2) });
    expect(evidence.isPartial).toBe(true);
    expect(evidence.fork().isPartial).toBe(true);
  });

  test('is nothing once other streams have used up the memory, and then no rule is held against a side', async () => {
    const long = JSON.stringify({ type: 'status', text: 'x'.repeat(16_000) });
    // Empty ones fill the rest: nothing is smaller.
    const fill = [...Array<string>(16).fill(long), ...Array<string>(100).fill('')];
    await using tokens = await startMiniService({});
    const wsUrl = await services.ws((peer) => {
      peer.once('message', (first) => {
        peer.send('{"type":"service_voice_connected"}');
        if (String(first) === 'a.b.c') for (const text of fill) peer.send(text);
        else peer.close(1000);
      });
    });
    const proxy = await startProxy({ baseUrl: tokens.baseUrl, wsUrl });
    const others: WebSocket[] = [];
    for (let at = 0; at < 100; at += 1) {
      const other = await openDevice(proxy.wsUrl);
      others.push(other);
      let count = 0;
      other.on('message', () => (count += 1));
      await expect.poll(() => count).toBe(1 + fill.length);
    }
    await converse(proxy);
    const ofLast = () => proxy.events.filter((event) => 'stream' in event && event.stream === 101);
    await expect
      .poll(() => ofLast().at(-1))
      .toMatchObject({ type: 'stream-closed', code: 1000, unjudged: 2 });
    expect(ofLast().filter(({ type }) => type === 'violation' || type === 'remark')).toEqual([]);
    for (const other of others) other.terminate();
  });

  test('does not grow with empty messages, although each is an object', () => {
    const budget = { usedBytes: 0 };
    const evidence = createEvidence(openedUpgrade(), budget);
    for (let at = 0; at < 10_000; at += 1) {
      evidence.add({ at, from: 'device', opcode: 'binary', data: Buffer.alloc(0), bytes: 0 });
      evidence.add({ at, from: 'service', opcode: 'text', text: '', bytes: 0 });
    }
    expect(evidence.exchange().messages.length).toBeLessThan(1_000);
    expect(budget.usedBytes).toBeLessThan(500_000);
    evidence.release();
    expect(budget.usedBytes).toBe(0);
  });

  test('is JSON if the text was JSON, and otherwise not', () => {
    const long = 'x'.repeat(100_000);
    const kept = shortenText(JSON.stringify({ type: 'status', text: long, list: [long], number: 1 }));
    expect(JSON.parse(kept)).toMatchObject({
      type: 'status',
      text: expect.stringMatching(/^x+…$/),
      number: 1,
    });
    expect(kept.length).toBeLessThan(2_000);
    expect(() => JSON.parse(shortenText(`{"type":"status","text":"${long}`))).toThrow();
    expect(() => JSON.parse(shortenText(`1${' '.repeat(100_000)}2`))).toThrow();
  });
});

describe('unfinished messages', () => {
  const unfinished = (isMasked: boolean) => {
    const head = Buffer.from([0x82, isMasked ? 0xff : 0x7f, 0, 0, 0, 0, 0, 0xb0, 0, 1]);
    return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), Buffer.alloc(11 * MiB)]);
  };
  const socketOf = (stream: WebSocket) => (stream as unknown as { _socket: Socket })._socket;

  test.each(['device', 'service'] as const)(
    'of the %s over 32 MiB together close the newest stream that has a long one with 1009, and the others go on',
    async (from) => {
      const peers: WebSocket[] = [];
      const proxy = await startProxy({
        wsUrl: await services.ws((peer) => {
          peers.push(peer);
          peer.on('message', () => peer.send('{"type":"service_voice_connected"}'));
        }),
      });
      const devices: WebSocket[] = [];
      for (let at = 0; at < 4; at += 1) {
        const device = await openDevice(proxy.wsUrl);
        await once(device, 'message');
        devices.push(device);
      }
      const sources = from === 'device' ? devices : peers;
      const closed = devices.map(async (device, at) => ({ at, code: (await once(device, 'close'))[0] }));
      const message = unfinished(from === 'device');
      const [ordinary, ...long] = [...sources].reverse();
      // Any stream is in the middle of a message now and then.
      socketOf(ordinary as WebSocket).write(message.subarray(0, 1_000));
      for (const source of long.reverse()) socketOf(source).write(message);
      expect(await Promise.race(closed)).toEqual({ at: 2, code: 1009 });
      await expect
        .poll(() => proxy.events.filter(({ type }) => type === 'stream-closed'))
        .toMatchObject([
          {
            stream: 3,
            code: 1009,
            why: 'the unfinished messages of all streams exceed 32 MiB (streams closed for this: 1)',
          },
        ]);
      expect(devices.map(({ readyState }) => readyState === WebSocket.OPEN)).toEqual([
        true,
        true,
        false,
        true,
      ]);
    },
  );
});
