import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { setUpProxies } from '../helpers/proxies.ts';
import { setUpServices, upgradeByHand } from '../helpers/services.ts';
import { writeRaw } from '../helpers/write-raw.ts';

const services = setUpServices();
const startProxy = setUpProxies();
const soon = { timeout: 30_000 };
const key = 'dGhlIHNhbXBsZSBub25jZQ==';
const upgrade = (port: number) =>
  `GET /voice-stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`;

/** The answer to an upgrade that does not open a stream. */
async function refusedUpgrade(wsUrl: string) {
  const device = new WebSocket(`${wsUrl}/voice-stream`);
  device.on('error', () => {});
  const [, answer] = await once(device, 'unexpected-response');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks).toString() };
}

async function openDevice(wsUrl: string): Promise<WebSocket> {
  const device = new WebSocket(`${wsUrl}/voice-stream`);
  device.on('error', () => {});
  await once(device, 'open');
  return device;
}

describe('a target that cannot be used', () => {
  test('with an untrusted certificate is a 503 for tokens and streams, with the reason', async () => {
    await using emulator = await createEmulator({ tls: true });
    const proxy = await startProxy(emulator);
    const token = await fetch(`${proxy.baseUrl}/api/websocket-voice/token`, { method: 'POST', body: '{}' });
    expect(token.status).toBe(503);
    expect(await refusedUpgrade(proxy.wsUrl)).toMatchObject({ status: 503 });
    const refused = proxy.events.filter(({ type }) => type === 'request-refused');
    expect(refused).toMatchObject([
      { why: expect.stringContaining('TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT)') },
      { why: expect.stringContaining('TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT)') },
    ]);
  });

  test('with a trusted certificate is reached', async () => {
    await using emulator = await createEmulator({ tls: true });
    const proxy = await startProxy({ ...emulator, ca: emulator.certificate });
    const device = await openDevice(proxy.wsUrl);
    device.close(1000);
    expect((await once(device, 'close'))[0]).toBe(1000);
  });

  test('refuses the upgrade: its answer reaches the device unchanged', async () => {
    await using emulator = await createEmulator({ faults: ['upgrade-refused:status=418'] });
    const proxy = await startProxy(emulator);
    const answer = await refusedUpgrade(proxy.wsUrl);
    expect(answer).toMatchObject({ status: 418, body: expect.stringContaining('UPGRADE_REFUSED') });
    await expect
      .poll(() => proxy.events.find(({ type }) => type === 'request-refused'), soon)
      .toMatchObject({ side: 'service', status: 418, code: 'UPGRADE_REFUSED' });
  });

  test.each([
    ['a wrong key', (text: string) => text.replace(key, 'bad')],
    ['no key', (text: string) => text.replace(`Sec-WebSocket-Key: ${key}\r\n`, '')],
    [
      'a wrong sub-protocol',
      (text: string) => text.replace('\r\n\r\n', '\r\nSec-WebSocket-Protocol: a,,b\r\n\r\n'),
    ],
    [
      'a repeated sub-protocol',
      (text: string) => text.replace('\r\n\r\n', '\r\nSec-WebSocket-Protocol: a, a\r\n\r\n'),
    ],
  ])('is neither asked nor blamed for an upgrade with %s', async (_, spoil) => {
    await using emulator = await createEmulator();
    const proxy = await startProxy(emulator);
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write(spoil(upgrade(proxy.port)));
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1.1 400 /);
    socket.destroy();
    const device = await openDevice(proxy.wsUrl);
    device.terminate();
    expect(emulator.control.journal.read({ type: 'stream-opened' }, 10)).toHaveLength(1);
    expect(proxy.events.filter(({ type }) => type === 'violation')).toEqual([]);
    expect(emulator.control.journal.read({ type: 'request-refused' }, 10)).toEqual([]);
  });

  test('is not blamed for a device that hangs up before the upgrade is answered', async () => {
    let asked = 0;
    const { port } = await services.tcp((socket) => {
      asked += 1;
      socket.once('close', () => (asked -= 1));
    });
    const proxy = await startProxy({ baseUrl: `http://127.0.0.1:${port}` });
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write(upgrade(proxy.port));
    await expect.poll(() => asked, soon).toBe(1);
    socket.resetAndDestroy();
    await expect.poll(() => asked, soon).toBe(0);
    const second = new WebSocket(`${proxy.wsUrl}/voice-stream`);
    second.on('error', () => {});
    await expect.poll(() => asked, soon).toBe(1);
    await proxy.close();
    expect(proxy.events.filter(({ type }) => type === 'request-refused')).toEqual([]);
  });

  test('does not answer the upgrade in time: 503', async () => {
    const { port } = await services.tcp(() => {});
    const proxy = await startProxy({ baseUrl: `http://127.0.0.1:${port}` }, { answerMs: 50 });
    expect(await refusedUpgrade(proxy.wsUrl)).toMatchObject({ status: 503 });
  });
});

describe('a side that breaks off', () => {
  test('a device that vanishes in the middle of a message is disconnected from the service', async () => {
    let code: number | undefined;
    let messages = 0;
    const wsUrl = await services.ws((peer) => {
      peer.on('message', () => {
        messages += 1;
      });
      peer.once('close', (told) => {
        code = told;
      });
    });
    const proxy = await startProxy({ wsUrl });
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write(upgrade(proxy.port));
    await once(socket, 'data');
    // The head of a masked binary message of 640 bytes, and a few of them.
    socket.write(Buffer.concat([Buffer.of(0x82, 0xfe, 640 >> 8, 640 & 255, 1, 2, 3, 4), Buffer.alloc(100)]));
    socket.destroy();
    await expect.poll(() => code, soon).toBe(1006);
    expect(messages).toBe(0);
    await expect.poll(() => proxy.control.state().streams, soon).toEqual([]);
  });

  test('if a service violates the WebSocket protocol, the device gets 1011', async () => {
    const { port } = await services.tcp((socket) =>
      upgradeByHand(socket, { onOpen: () => void setImmediate(() => socket.write(Buffer.of(0xff, 0xff))) }),
    );
    const proxy = await startProxy({ baseUrl: `http://127.0.0.1:${port}` });
    const device = await openDevice(proxy.wsUrl);
    expect((await once(device, 'close'))[0]).toBe(1011);
    await expect
      .poll(() => proxy.events.find(({ type }) => type === 'stream-closed'), soon)
      .toMatchObject({ side: 'service', cause: 'protocol-error' });
  });

  test('if a device violates the WebSocket protocol, the service gets 1002', async () => {
    let code: number | undefined;
    const wsUrl = await services.ws((peer) => {
      peer.once('close', (told) => {
        code = told;
      });
    });
    const proxy = await startProxy({ wsUrl });
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write(upgrade(proxy.port));
    await once(socket, 'data');
    socket.write(Buffer.of(0xff, 0xff, 0, 0, 0, 0));
    await expect.poll(() => code, soon).toBe(1002);
    socket.destroy();
  });

  test.each(['device', 'service'] as const)(
    'a close of the %s with a reason that is not UTF-8 passes as it is, and is named',
    async (from) => {
      const reason = Buffer.of(0xff, 0xfe, 0x1b);
      const head = from === 'device' ? [0x88, 0x85, 0, 0, 0, 0] : [0x88, 0x05];
      const close = Buffer.concat([Buffer.of(...head, 0x0f, 0xa0), reason]);
      const send = (socket: WebSocket) => writeRaw(socket, close);
      const closes: [number, Buffer][] = [];
      const listen = (socket: WebSocket) => socket.on('close', (code, told) => closes.push([code, told]));
      const wsUrl = await services.ws(
        (peer) => {
          if (from === 'device') listen(peer);
          peer.on('error', () => {});
          peer.once('message', () => (from === 'service' ? send(peer) : peer.send('{}')));
        },
        { skipUTF8Validation: true },
      );
      const proxy = await startProxy({ wsUrl });
      const device = new WebSocket(`${proxy.wsUrl}/voice-stream`, { skipUTF8Validation: true });
      device.on('error', () => {});
      if (from === 'service') listen(device);
      await once(device, 'open');
      device.send('a.b.c');
      if (from === 'device') {
        await once(device, 'message');
        send(device);
      }
      await expect.poll(() => closes, soon).toEqual([[4000, reason]]);
      await expect
        .poll(() => proxy.events.find(({ type }) => type === 'stream-closed'), soon)
        .toMatchObject({ from, code: 4000, cause: 'protocol-error' });
      device.terminate();
    },
  );

  test('at the end of the proxy both sides get 1001', async () => {
    let code: number | undefined;
    const wsUrl = await services.ws((peer) => {
      peer.once('close', (told) => {
        code = told;
      });
    });
    const proxy = await startProxy({ wsUrl });
    const device = await openDevice(proxy.wsUrl);
    const closed = once(device, 'close');
    await proxy.close();
    expect((await closed)[0]).toBe(1001);
    await expect.poll(() => code, soon).toBe(1001);
  });
});

describe('a side that does not read', () => {
  test('slows the other one down, and misses nothing when it reads again', async () => {
    let peer: WebSocket | undefined;
    const got: number[] = [];
    const wsUrl = await services.ws((socket) => {
      peer = socket;
      socket.pause();
      socket.on('message', (data) => got.push((data as Buffer).readUInt32LE()));
    });
    const proxy = await startProxy({ wsUrl });
    const device = await openDevice(proxy.wsUrl);
    const count = 200;
    const bytes = 64 * 1024;
    for (let at = 0; at < count; at += 1) {
      const message = Buffer.alloc(bytes);
      message.writeUInt32LE(at);
      device.send(message);
    }
    // What waits, waits in the device: the proxy takes no more than the system's own buffers and a little beside.
    await expect.poll(() => device.bufferedAmount, soon).toBeLessThan(count * bytes);
    let before = -1;
    await expect
      .poll(() => {
        const settled = device.bufferedAmount === before;
        before = device.bufferedAmount;
        return settled && before > 0;
      }, soon)
      .toBe(true);
    peer?.resume();
    await expect.poll(() => got.length, soon).toBe(count);
    expect(got).toEqual(Array.from({ length: count }, (_, at) => at));
  });

  test('ends the stream if it ends its connection without a close frame, even if much data waits for it', async () => {
    let peer: WebSocket | undefined;
    let code: number | undefined;
    const wsUrl = await services.ws((socket) => {
      peer = socket;
      socket.once('close', (told) => {
        code = told;
      });
    });
    const proxy = await startProxy({ wsUrl });
    const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    socket.write(upgrade(proxy.port));
    await once(socket, 'data');
    socket.pause();
    await expect.poll(() => peer, soon).toBeDefined();
    // More than the system's own buffers take.
    peer?.send(Buffer.alloc(15 * 1024 * 1024));
    const streams = () => JSON.stringify(proxy.control.state().streams);
    await expect.poll(streams, soon).toContain('"framesOut":1');
    // The other half stays open.
    socket.end();
    await expect.poll(() => proxy.control.state().streams, soon).toEqual([]);
    expect(code).toBe(1006);
    socket.destroy();
  });
});

test('the control API sends and speaks instead of the service, and nothing is held against either side', async () => {
  await using emulator = await createEmulator({ reply: 'silence' });
  const proxy = await startProxy(emulator);
  const answer = await fetch(`${proxy.baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"apiKey":"k-123456","deviceId":"lamp"}',
  });
  const { token } = (await answer.json()) as { token: string };
  const device = await openDevice(proxy.wsUrl);
  const got: (string | number)[] = [];
  device.on('message', (data, isBinary) => got.push(isBinary ? (data as Buffer).length : String(data)));
  device.send(token);
  await expect.poll(() => got.length, soon).toBeGreaterThan(0);
  expect(proxy.control.send({}, { json: { type: 'made-up' } })).toEqual([1]);
  expect(proxy.control.speak({ device: 'lamp' }, Buffer.alloc(1_280))).toEqual([1]);
  await expect.poll(() => got, soon).toEqual(expect.arrayContaining(['{"type":"made-up"}', 640]));
  expect(proxy.control.state()).toMatchObject({
    tokens: [{ device: 'lamp', used: true }],
    streams: [{ device: 'lamp' }],
    devices: [{ device: 'lamp', requests: 1 }],
  });
  device.close(1000);
  await expect.poll(() => proxy.events.some(({ type }) => type === 'stream-closed'), soon).toBe(true);
  expect(proxy.judged().violations).toBe(0);
});
