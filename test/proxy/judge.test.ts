import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { parse } from 'yaml';
import { createEmulator } from '../../src/emulator/emulator.ts';
import type { DialectInput } from '../../src/protocol/dialect.ts';
import { createProxyJudge, type StreamSubject } from '../../src/proxy/judge.ts';
import { nameSides } from '../../src/proxy/proxy-events.ts';
import { createEmulatorEvents, type Judgement } from '../../src/service/events.ts';
import type { Header, WireMessage } from '../../src/wire/exchange.ts';
import { presents, speaks } from '../helpers/device-exchanges.ts';
import { openedUpgrade } from '../helpers/exchanges.ts';
import { farDialects } from '../helpers/far-dialects.ts';
import { hasForeignService, startForeignService } from '../helpers/foreign-service.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { converse } from '../helpers/proxied-device.ts';
import { setUpProxies, type WatchedProxy } from '../helpers/proxies.ts';
import { answered, refused, serviceToken, tells } from '../helpers/service-exchanges.ts';
import { openStream } from '../helpers/stream-client.ts';
import { setUpSandbox } from '../helpers/voicectl.ts';
import { writeRaw } from '../helpers/write-raw.ts';

const startProxy = setUpProxies();

function judgements({ events }: WatchedProxy): Judgement[] {
  return events.flatMap((event) => (event.type === 'violation' || event.type === 'remark' ? [event] : []));
}

/** What was held against a side, as `R12 fail`. */
async function judged(proxy: WatchedProxy, streams = 1): Promise<string[]> {
  await expect
    .poll(() => proxy.events.filter(({ type }) => type === 'stream-closed').length, { timeout: 10_000 })
    .toBe(streams);
  return violations(proxy);
}

function violations(proxy: WatchedProxy): string[] {
  const broken = judgements(proxy).filter(({ type }) => type === 'violation');
  return broken.map(({ from, rule, value }) => `${from} ${rule}: ${value}`);
}

const gateway = readFileSync(new URL('../../examples/dialects/gateway.yaml', import.meta.url), 'utf8');
const dialects: [string, DialectInput][] = [
  ...Object.entries(farDialects),
  ['with tokens of one second that are the same', { token: parse(gateway).token }],
];

describe('a correct device and a correct service', () => {
  test.each(dialects)('break no rule %s', async (_name, dialect) => {
    await using emulator = await createEmulator({ dialect, reply: 'echo' });
    const proxy = await startProxy(emulator);
    await converse(proxy, { times: 3 });
    expect(await judged(proxy, 3)).toEqual([]);
    expect(proxy.judged().violations).toBe(0);
  });
});

describe.skipIf(!hasForeignService)('a correct device and a service by somebody else', () => {
  const sandbox = setUpSandbox();
  test('break no rule', async () => {
    const service = await startForeignService(sandbox);
    const proxy = await startProxy(service);
    await converse(proxy, { times: 2 });
    expect(await judged(proxy, 2)).toEqual([]);
  });
});

test('an open stream shows its broken rules, and counts as a connection of its device', async () => {
  await using service = await startMiniService({ onText: ({ socket }) => socket.send('no text, please') });
  const proxy = await startProxy(service);
  let socket: WebSocket | undefined;
  const talking = converse(proxy, {
    audio: ['a text'],
    close(given) {
      socket = given;
    },
  });
  const look = () => proxy.control.state();
  await expect
    .poll(() => look().streams[0]?.remarks ?? [], { timeout: 10_000 })
    .toContainEqual(expect.stringContaining('service breaks R39'));
  expect(look().devices).toMatchObject([{ device: 'lamp', connections: 1 }]);
  await expect.poll(() => socket !== undefined, { timeout: 10_000 }).toBe(true);
  socket?.close(1_000);
  await talking;
  await expect.poll(() => look().devices[0]?.connections, { timeout: 10_000 }).toBe(0);
});

/** A frame with a reserved bit. */
const badFrame = (masked: boolean) => Buffer.of(0xf2, masked ? 0x80 : 0, ...(masked ? [0, 0, 0, 0] : []));

describe('a frame that violates the WebSocket protocol', () => {
  test('is held against the device that sends it, not against the service', async () => {
    await using service = await startMiniService({});
    const proxy = await startProxy(service);
    await converse(proxy, { close: (socket) => writeRaw(socket, badFrame(true)) });
    expect(await judged(proxy)).toEqual([
      expect.stringMatching(/^device D13: it violated the WebSocket protocol: /),
    ]);
  });

  test('before the confirmation it is not called a refused token', async () => {
    await using service = await startMiniService({ connected: () => {} });
    const proxy = await startProxy(service);
    const audio: Buffer[] = [];
    await converse(proxy, {
      audio,
      confirmWithinMs: 50,
      close: (socket) => writeRaw(socket, badFrame(true)),
    });
    expect(await judged(proxy)).toEqual([
      expect.stringMatching(/^device D13: it violated the WebSocket protocol: /),
    ]);
  });

  test('is held against the service that sends it, not against the device', async () => {
    await using service = await startMiniService({
      onAudio: ({ socket }) => writeRaw(socket, badFrame(false)),
    });
    const proxy = await startProxy(service);
    await converse(proxy);
    expect(await judged(proxy)).toEqual([
      expect.stringMatching(/^service R37: the service violated the WebSocket protocol: /),
    ]);
  });
});

test('with a dialect, remarks count as violations', async () => {
  await using emulator = await createEmulator({ reply: 'silence' });
  const proxy = await startProxy(emulator, { dialect: {} });
  await converse(proxy, { close: (socket) => socket.close(1001) });
  expect(await judged(proxy)).toEqual([expect.stringContaining('device D13: it closed with 1001')]);
});

test('a closed stream is not held against the device while the service leaves its connection open', async () => {
  await using service = await startMiniService({
    onOpen(socket) {
      const { _socket: transport } = socket as unknown as { _socket: Socket };
      transport.end = () => transport;
    },
    maxConnections: 12,
    onAudio: ({ socket }, pcm) => socket.send(pcm),
  });
  const proxy = await startProxy(service);
  await converse(proxy, { times: 12, audio: [Buffer.alloc(640)] });
  expect(await judged(proxy, 12)).toEqual([]);
});

test('a mistake is reported for each stream', async () => {
  await using service = await startMiniService({});
  const proxy = await startProxy(service);
  const first = ['{"token":"t"}', 'Bearer a.b.c', 'hello'];
  for (const text of first) {
    const client = openStream(proxy.wsUrl);
    await client.opened;
    await client.send(text);
    client.socket.close();
    await client.closed;
  }
  const told = (await judged(proxy, 3)).filter((one) => one.startsWith('device D2'));
  expect(new Set(told).size).toBe(3);
});

test('a device is remembered while another one asks for more tokens than are remembered of it', () => {
  const clock = createManualClock();
  const events = nameSides(createEmulatorEvents(clock.now));
  const broken: string[] = [];
  events.subscribe((event) => {
    if (event.type === 'violation' && event.device === 'lamp') broken.push(event.rule);
  });
  const judge = createProxyJudge({ clock, events, isStrict: false });
  const refuse = (device: string, at: number, agent = 'lamp/1') => {
    const requestHeaders: Header[] = [
      ['Content-Type', 'application/json'],
      ['User-Agent', agent],
    ];
    const headers = { 'Retry-After': '30' };
    const exchange = refused({ at, device, requestHeaders, status: 429, headers });
    judge.token({ device: exchange, service: exchange }, device);
  };
  refuse('lamp', 0);
  // 64 of them are remembered.
  for (let times = 1; times <= 100; times += 1) refuse('busy', 40_000 * times, 'x'.repeat(100_000));
  expect(broken).toEqual([]);
  refuse('lamp', 1_000);
  expect(broken).toEqual(['D6']);
});

test('a device is remembered even if 200 others have open streams', () => {
  const clock = createManualClock();
  const events = nameSides(createEmulatorEvents(clock.now));
  const broken: string[] = [];
  events.subscribe((event) => event.type === 'violation' && broken.push(event.rule));
  const judge = createProxyJudge({ clock, events, isStrict: false });
  for (let id = 1; id <= 200; id += 1)
    judge.identified({ id, device: `d${id}`, owner: `device d${id}` } as StreamSubject);
  for (const at of [0, 1_000]) {
    const exchange = refused({ at, device: 'lamp', status: 429, headers: { 'Retry-After': '30' } });
    judge.token({ device: exchange, service: exchange }, 'lamp');
  }
  expect(broken).toEqual(['D6']);
});

test('a stream that has ended is forgotten, even if its owner would be another one by then', () => {
  const clock = createManualClock();
  const events = nameSides(createEmulatorEvents(clock.now));
  const judge = createProxyJudge({ clock, events, isStrict: false });
  let looks = 0;
  const stream: StreamSubject = {
    ...{ id: 1, device: undefined, isPartial: false, hearsSpoiltAudio: false },
    ...{ owner: 'device lamp', heard: () => undefined, failed() {} },
    seenBy() {
      looks += 1;
      return { kind: 'stream', upgrade: openedUpgrade(), messages: [], end: undefined };
    },
  };
  judge.opened(1);
  judge.identified(stream);
  Object.assign(stream, { owner: 'token x' });
  judge.ended(stream);
  looks = 0;
  const exchange = refused({ at: 0, device: 'lamp', status: 429 });
  judge.token({ device: exchange, service: exchange }, 'lamp');
  expect(looks).toBe(0);
});

test('an error that may answer early audio is not held against the service later, even if it pinged before', () => {
  const clock = createManualClock();
  const events = nameSides(createEmulatorEvents(clock.now));
  const broken: string[] = [];
  events.subscribe((event) => {
    if (event.type === 'violation') broken.push(`${event.from} ${event.rule}`);
  });
  const judge = createProxyJudge({ clock, events, isStrict: false });
  const token = serviceToken(0, { sub: 'lamp' });
  const messages: WireMessage[] = [
    { at: 10, from: 'service', opcode: 'ping', bytes: 0 },
    presents(token, 11),
    ...speaks(12),
    tells('{"type":"error"}', 13),
  ];
  const end = { at: 2_000, by: 'device', code: 1000, reason: '', breakdown: undefined } as const;
  const stream: StreamSubject = {
    ...{ id: 1, device: 'lamp', isPartial: false, hearsSpoiltAudio: false },
    ...{ owner: 'device lamp', heard: () => undefined, failed() {} },
    seenBy: () => ({ kind: 'stream', upgrade: openedUpgrade(9), messages, end }),
  };
  const ask = (at: number) => {
    const exchange = answered({ at, device: 'lamp', remaining: at === 0 ? 59 : 58 });
    judge.token({ device: exchange, service: exchange }, 'lamp');
  };
  ask(0);
  judge.opened(1);
  judge.identified(stream);
  judge.ended(stream);
  const atItsEnd = [...broken];
  ask(5_000);
  expect(atItsEnd).toContain('device D4');
  expect(broken).toEqual(atItsEnd);
});
