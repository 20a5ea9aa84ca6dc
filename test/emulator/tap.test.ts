import { afterEach, describe, expect, test } from 'vitest';
import { type Collector, createCollector } from '../../src/conformance/drill/stage.ts';
import { createEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createRedactor } from '../../src/kernel/redact.ts';
import { tokenPath } from '../../src/protocol/paths.ts';
import { interruptions } from '../../src/rules/device/device-seen.ts';
import { endingRules } from '../../src/rules/device/endings.ts';
import type { PageHost } from '../../src/service/control/page-handler.ts';
import { joinService } from '../../src/wire/client/join-service.ts';
import type { StreamExchange, WireMessage } from '../../src/wire/exchange.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { openStream } from '../helpers/stream-client.ts';
import { writeRaw } from '../helpers/write-raw.ts';

const startEmulator = setUpEmulators();
const started: Emulator[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((emulator) => emulator.close()));
});

/** An emulator whose every conversation is kept, in the order in which they began. */
async function startWatched(options: EmulatorOptions = {}) {
  const collectors: Collector[] = [];
  const emulator = await createEmulator({
    ...options,
    tap() {
      const collector = createCollector();
      collectors.push(collector);
      return collector.tap;
    },
  });
  started.push(emulator);
  return { emulator, collectors };
}

/** A client whose conversation is kept as well. */
async function join({ baseUrl, wsUrl }: Emulator, apiKey = 'canary-key') {
  const collector = createCollector();
  const stream = await joinService({
    ...{ baseUrl, wsUrl, device: 'd1', auth: { apiKey, apiVersion: undefined, retries: 0 } },
    ...{ clock: systemClock, signal: new AbortController().signal, redactor: createRedactor() },
    tap: collector.tap,
    onAudio() {},
    onMessage() {},
  });
  return { stream, collector };
}

/** What both ends see alike: everything but the times, and who answers a ping when. */
function told(exchange: StreamExchange | undefined, from: WireMessage['from']) {
  const messages = exchange?.messages.filter((message) => message.from === from) ?? [];
  return messages.map(({ at: _, ...message }) =>
    'data' in message ? { ...message, data: [...message.data] } : message,
  );
}

describe('the tap of an emulator', () => {
  test.each([
    [
      'a frame with a reserved bit',
      Buffer.of(0xf2, 0x80, 0, 0, 0, 0),
      1002,
      'violated the WebSocket protocol',
    ],
    [
      'a message of 1 GiB',
      Buffer.from('82ff0000000040000000' + '00000000', 'hex'),
      1009,
      'a message was refused',
    ],
  ])('sees whose fault it is that %s ended the stream', async (_what, bytes, code, says) => {
    const { emulator, collectors } = await startWatched();
    const device = openStream(emulator.wsUrl);
    await device.opened;
    writeRaw(device.socket, bytes);
    await emulator.waitFor('stream-closed');
    const exchange = collectors.at(-1)?.stream() ?? expect.unreachable();
    expect(exchange.end).toMatchObject({ by: 'device', code, breakdown: { by: 'device' } });
    const rule = endingRules.find(({ id }) => id === 'D13');
    expect(rule?.judge([{ id: 'X1', exchange }])?.message).toContain(says);
  });

  test('sees the same conversation as the tap of its client', async () => {
    const { emulator, collectors } = await startWatched({ reply: 'echo' });
    const { stream, collector } = await join(emulator);
    stream.sendAudio(Buffer.from([1, 2, 3]));
    stream.sendAudio(Buffer.alloc(640, 7));
    emulator.control.send({}, { json: { type: 'hello', text: 'canary-key' } });
    await emulator.waitFor('message-sent', ({ body }) => JSON.stringify(body).includes('hello'));
    await stream.close();
    await emulator.waitFor('stream-closed');
    const [asked, streamed] = collectors;
    const [ours, theirs] = [collector.stream(), streamed?.stream()];
    expect(told(theirs, 'device')).toEqual(told(ours, 'device'));
    const spoken = told(theirs, 'service').filter(({ opcode }) => opcode === 'binary');
    expect(spoken).toEqual(told(ours, 'service').filter(({ opcode }) => opcode === 'binary'));
    expect(theirs?.end).toMatchObject({ by: 'device', code: 1000 });
    expect(asked?.tokens[0]?.granted).toEqual(collector.tokens[0]?.granted);
    expect(asked?.tokens[0]?.answer?.status).toBe(200);
  });

  test('keeps neither key nor token', async () => {
    const { emulator, collectors } = await startWatched();
    const { stream, collector } = await join(emulator);
    await stream.close();
    await emulator.waitFor('stream-closed');
    const signature = collector.tokens[0]?.granted?.hash;
    expect(signature).toBeDefined();
    const kept = JSON.stringify(collectors.map((one) => [one.tokens, one.stream()]));
    expect(kept).toContain('[redacted]');
    expect(kept).not.toContain('canary-key');
    // A JWT has two dots; what is left of one is its hash and its claims.
    expect(kept).not.toMatch(/eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/);
  });

  test.each([
    ['under another name', { key: 'canary-key', deviceId: 'lamp' }, {}],
    ['as the device', { apiKey: 'another', deviceId: 'canary-key' }, {}],
    ['in a list', { apiKey: ['canary-key'], deviceId: 'lamp' }, {}],
    ['in a header of its own', { deviceId: 'lamp' }, { 'X-Own': 'canary-key' }],
  ])('keeps no accepted key that a token request has %s', async (_where, fields, headers) => {
    const { emulator, collectors } = await startWatched({ acceptKeys: ['canary-key'] });
    await fetch(emulator.baseUrl + tokenPath(), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(fields),
    });
    const kept = JSON.stringify(collectors.map(({ tokens }) => tokens));
    expect(kept).toContain('[redacted]');
    expect(kept).not.toContain('canary-key');
  });

  test('that joins an open stream gets neither its token nor an accepted key, even if the device repeats them', async () => {
    let host: PageHost | undefined;
    const emulator = await startEmulator({
      acceptKeys: ['canary-key'],
      page(made) {
        host = made;
        return { token: 't', answer: async () => false, close: async () => {} };
      },
    });
    const seen: WireMessage[] = [];
    const { body } = await emulator.requestToken('d1', { apiKey: 'canary-key' });
    const token = body.token ?? expect.unreachable();
    const device = emulator.open();
    await device.opened;
    await device.send(token);
    await device.connected;
    host?.observe(() => ({ message: (message) => seen.push(message) }));
    await device.send(JSON.stringify({ token, key: 'canary-key', note: 'once more' }));
    device.socket.close(1000);
    await emulator.event('stream-closed');
    const kept = JSON.stringify(seen);
    expect(kept).toContain('once more');
    expect(kept).not.toContain('canary-key');
    expect(kept).not.toContain(token.split('.')[2]);
  });

  test('sees refused requests, with their method, headers and answer', async () => {
    const { emulator, collectors } = await startWatched();
    const url = `${emulator.baseUrl}/api/v1/websocket-voice/token`;
    await fetch(url, { method: 'PUT', headers: { 'X-Device': 'bell' } });
    await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"apiKey":"secret-1"',
    });
    const [put, cut] = collectors.map(({ tokens }) => tokens[0]);
    expect(put).toMatchObject({ request: { method: 'PUT' }, answer: { status: 405 }, granted: undefined });
    expect(put?.request.headers).toContainEqual(['X-Device', 'bell']);
    expect(cut).toMatchObject({ request: { body: '{"apiKey":"[redacted]"' }, answer: { status: 400 } });
  });

  test('sees a request that a fault leaves without an answer', async () => {
    const { emulator, collectors } = await startWatched({ faults: ['token-reset'] });
    await expect(join(emulator)).rejects.toMatchObject({ code: 'connect-failed' });
    expect(collectors[0]?.tokens[0]).toMatchObject({ answer: undefined, granted: undefined });
  });

  test.each([
    ['another code', 1012, 1000, { code: 1012, reason: '', answer: { code: 1000, reason: 'bye' } }],
    ['the same code', 4001, 4001, { code: 4001, reason: 'enough', answer: undefined }],
    [
      'a code to a close without one',
      1005,
      1000,
      { code: 1005, reason: '', answer: { code: 1000, reason: 'bye' } },
    ],
  ])('knows the close of the service if the device answers with %s', async (_what, code, answer, end) => {
    const { emulator, collectors } = await startWatched();
    const asked = await fetch(`${emulator.baseUrl}/api/websocket-voice/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey: 'key', deviceId: 'd1' }),
    });
    const { token } = (await asked.json()) as { token: string };
    const device = openStream(emulator.wsUrl);
    const close = device.socket.close.bind(device.socket);
    // ws answers a close by a call of `close`.
    device.socket.close = () => close(answer, 'bye');
    await device.opened;
    await device.send(token);
    await device.connected;
    emulator.control.close({}, code, end.reason);
    const { sentCode } = await emulator.waitFor('stream-closed');
    expect(sentCode).toBe(code);
    const exchange = collectors[1]?.stream() ?? expect.unreachable();
    expect(exchange.end).toEqual({ at: expect.any(Number), by: 'service', ...end });
    expect(interruptions([{ id: 'S1', exchange }])).toHaveLength(1);
  });

  test('knows when the device closed, even if its connection ends later', async () => {
    const clock = createManualClock();
    const collectors: Collector[] = [];
    const emulator = await startEmulator({
      clock,
      tap() {
        const collector = createCollector();
        collectors.push(collector);
        return collector.tap;
      },
    });
    const { socket } = await emulator.connect('d1');
    clock.advance(1_000);
    const closedAt = clock.now();
    // It does not read the answer to its close yet.
    socket.pause();
    socket.close(1000);
    await expect.poll(() => emulator.control.state().devices[0]?.connections).toBe(0);
    clock.advance(1_500);
    socket.resume();
    await emulator.event('stream-closed');
    expect(collectors.at(-1)?.stream()?.end).toMatchObject({ by: 'device', code: 1000, at: closedAt });
  });

  test('knows who ended the stream', async () => {
    const { emulator, collectors } = await startWatched();
    await join(emulator);
    emulator.control.close({}, 4001, 'enough');
    await emulator.waitFor('stream-closed');
    expect(collectors[1]?.stream()?.end).toMatchObject({ by: 'service', code: 4001 });
  });
});
