import { once } from 'node:events';
import { describe, type ExpectStatic, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { createEmulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { emulatorLines } from '../../src/report/emulator-lines.ts';
import { createStyle } from '../../src/report/style.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';
import type { Side } from '../../src/wire/exchange.ts';
import { mutants } from '../conformance/mutants.ts';
import { encodings, speechPcm, wavFile } from '../helpers/device-audio.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { converse, type DeviceBehaviour, framesOf } from '../helpers/proxied-device.ts';

const plain = createStyle(false);
const blaming = /^(violation|remark|(device|service)-finding)$/;

/** What is held against a side, or advised: broken rules, findings in its audio, a wrong pace. */
function held(events: readonly EmulatorEvent[]): EmulatorEvent[] {
  return events.filter(
    (event) =>
      blaming.test(event.type) ||
      ('remarks' in event && event.type !== 'stream-closed' && event.remarks.length > 0),
  );
}

/** Waits until the rule is held against its side, and the streams have ended: no other rule, and nothing against the other side. */
async function expectSide(
  events: readonly EmulatorEvent[],
  { side, rule, streams, also = [] }: { side: Side; rule: string; streams: number; also?: readonly string[] },
  poll: ExpectStatic['poll'],
): Promise<void> {
  const timeout = 20_000;
  const rules = () => events.flatMap((event) => (event.type === 'violation' ? [event.rule] : []));
  const ended = () => events.filter(({ type }) => type === 'stream-closed').length;
  await poll(rules, { timeout }).toContain(rule);
  await poll(ended, { timeout }).toBeGreaterThanOrEqual(streams);
  expect(rules().filter((one) => one !== rule && !also.includes(one))).toEqual([]);
  const wrong = held(events);
  expect(wrong.filter(({ from }) => from !== side)).toEqual([]);
  for (const event of wrong) expect(emulatorLines(event, plain).join('\n')).toContain(` ${side} `);
  for (const event of events)
    if ('stream' in event && event.type !== 'fault-struck') expect(event.from).toBeDefined();
}

type Request = DeviceBehaviour['request'];
const asks = (change: (fields: object) => object, more: object = {}): { request: Request } => ({
  request: (fields) => ({ body: JSON.stringify(change(fields)), ...more }),
});
const presents = (present: DeviceBehaviour['present']) => ({ present });
const says = (pcm: Buffer) => ({ audio: framesOf(pcm.subarray(0, 128_000)) });

/** Devices that break one rule, and how many streams they open. */
const badDevices: [
  rule: string,
  does: string,
  change: Partial<DeviceBehaviour>,
  streams?: number,
  service?: EmulatorOptions,
][] = [
  ['D1', 'asks as a form', asks((fields) => fields, { type: 'text/plain' }), 0],
  ['D1', 'asks with GET', asks((fields) => fields, { method: 'GET' }), 0],
  ['D1', 'names no device', asks(() => ({ apiKey: 'key-1' })), 0],
  ['D1', 'has a number for a key', asks((fields) => ({ ...fields, apiKey: 1 })), 0],
  ['D2', 'puts the token into quotes', presents((token) => JSON.stringify(token))],
  ['D2', 'wraps the token in JSON', presents((token) => JSON.stringify({ token }))],
  ['D2', 'says Bearer', presents((token) => `Bearer ${token}`)],
  ['D2', 'ends with a line break', presents((token) => `${token}\n`)],
  ['D2', 'cuts the token', presents((token) => token.slice(0, 60))],
  ['D2', 'says hello', presents(() => 'hello')],
  ['D2', 'sends the token as a binary message', presents((token) => Buffer.from(token))],
  [
    'D3',
    'uses a token twice',
    { times: 2, keepsToken: true },
    2,
    { dialect: { token: { singleUse: false } } },
  ],
  // What a device sends early must arrive early.
  [
    'D4',
    'sends audio before the confirmation',
    { early: framesOf(Buffer.alloc(1_280)) },
    1,
    { faults: ['connected-late:delay=300ms'] },
  ],
  ['D5', 'sends a WAV file', { audio: [wavFile.subarray(0, 6_400)] }],
  ['D5', 'sends half samples', { audio: [Buffer.alloc(641), Buffer.alloc(640)] }],
  ['D5', 'sends base64', { audio: [Buffer.from(encodings.quiet().subarray(0, 64_000).toString('base64'))] }],
  ['D5', 'sends floats', says(encodings.float32())],
  ['D5', 'sends 32-bit integers', says(encodings.int32())],
  ['D5', 'sends 24-bit integers', says(encodings.int24())],
  ['D5', 'sends stereo', says(encodings.stereo())],
  ['D5', 'sends µ-law', says(encodings.mulaw())],
  ['D5', 'sends big-endian', says(encodings.swapped())],
  ['D13', 'cuts the connection', { close: (socket) => socket.terminate() }],
  ['D13', 'closes without a code', { close: (socket) => socket.close() }],
];

/** Rules of a service that an honest device brings to light by talking. */
const seenByTalking = [
  ...['R1', 'R3', 'R4', 'R6', 'R9', 'R10', 'R11', 'R12', 'R13', 'R23', 'R24', 'R25', 'R28'],
  ...['R33', 'R34', 'R35', 'R37', 'R38', 'R39'],
];
/** What is settled by other requests, by a text, by silence after a turn, or on a device of its own; what this device takes for a confirmation, or what is sent later than its token. */
const unseen =
  /not at once|answers text|has no unversioned|counts down by two|confirms any text|in a binary message|speaks for \d s/;
const badServices = mutants.filter(
  // With `TABLE=1`, as in `npm run conformance`, also those that one rule tells alike.
  ({ rule, level, does, verdict, isAlike }) =>
    (isAlike !== true || process.env.TABLE !== undefined) &&
    level === undefined &&
    verdict === undefined &&
    seenByTalking.includes(rule) &&
    !unseen.test(does),
);

test('the table has at least 40 pairs', () => {
  expect(badDevices.length + badServices.length).toBeGreaterThanOrEqual(40);
});

describe.concurrent('with a bad device and a good service, rules are broken only by the device:', () => {
  test.for(badDevices)('%s, it %s', async ([rule, , change, streams = 1, service], { expect: { poll } }) => {
    await using emulator = await createEmulator({ reply: 'silence', ...service });
    const events: EmulatorEvent[] = [];
    await using proxy = await createProxy({ target: emulator, onEvent: (event) => events.push(event) });
    await converse(proxy, { confirmWithinMs: undefined, ...change });
    await expectSide(events, { side: 'device', rule, streams }, poll);
  });
});

describe.concurrent('with a good device and a bad service, rules are broken only by the service:', () => {
  test.for(badServices)('$rule, it $does', async ({ rule, change, also = [] }, { expect: { poll } }) => {
    await using service = await startMiniService(change);
    const events: EmulatorEvent[] = [];
    await using proxy = await createProxy({ target: service, onEvent: (event) => events.push(event) });
    await converse(proxy, { times: 2 });
    await expectSide(events, { side: 'service', rule, also, streams: 0 }, poll);
  });
});

test('messages that end within a sample are held against no side', async ({ expect: { poll } }) => {
  const halves = (pcm: Buffer) => [pcm.subarray(0, 333), pcm.subarray(333)];
  await using service = await startMiniService({
    onAudio: ({ socket }, pcm) => halves(pcm).forEach((half) => void socket.send(half)),
  });
  const events: EmulatorEvent[] = [];
  await using proxy = await createProxy({ target: service, onEvent: (event) => events.push(event) });
  await converse(proxy, { audio: framesOf(speechPcm.subarray(0, 32_000)) });
  await poll(() => events.filter(({ type }) => type === 'stream-closed').length).toBe(1);
  expect(held(events)).toEqual([]);
});

test('a device is not blamed for the time in which the proxy does not read', async ({ expect: { poll } }) => {
  const clock = createManualClock();
  await using service = await startMiniService({
    onAudio: ({ socket }) => socket.send('{"type":"status"}'),
  });
  const events: EmulatorEvent[] = [];
  await using proxy = await createProxy({ target: service, clock, onEvent: (event) => events.push(event) });
  await converse(proxy, {
    audio: [],
    async close(socket: WebSocket) {
      const speech = framesOf(speechPcm);
      const frame = (index: number) => speech[index % speech.length] ?? Buffer.alloc(640);
      for (let index = 0; index < 150; index += 1) {
        const answer = once(socket, 'message');
        socket.send(frame(index));
        await answer;
        clock.advance(20);
      }
      proxy.control.faults.add('deaf');
      for (let index = 150; index < 350; index += 1) {
        socket.send(frame(index));
        clock.advance(20);
      }
      proxy.control.close({}, 1012, '');
    },
  });
  await poll(() => events.filter(({ type }) => type === 'stream-closed').length).toBe(1);
  expect(held(events)).toEqual([]);
  expect(events.find(({ type }) => type === 'stream-closed')).toMatchObject({ framesIn: 350, remarks: [] });
});

/** Bytes that a service sends for each message, and the time between two messages of the device. */
const paces: [side: Side, does: string, answers: number, everyMs: number][] = [
  ['device', 'sends at double pace', 0, 10],
  ['service', 'answers at one and a half times the pace', 960, 20],
];

describe.concurrent('a wrong pace is held against the side that sends it:', () => {
  test.for(paces)('the %s %s', async ([side, , answers, everyMs], { expect: { poll } }) => {
    const clock = createManualClock();
    await using service = await startMiniService({
      onAudio: ({ socket }, pcm) =>
        socket.send(answers === 0 ? '{"type":"status"}' : Buffer.concat([pcm, pcm]).subarray(0, answers)),
    });
    const events: EmulatorEvent[] = [];
    await using proxy = await createProxy({ target: service, clock, onEvent: (event) => events.push(event) });
    await converse(proxy, {
      audio: [],
      async close(socket: WebSocket) {
        const speech = framesOf(speechPcm);
        for (let at = 0; at < 4_000; at += everyMs) {
          const answer = once(socket, 'message');
          socket.send(speech[(at / everyMs) % speech.length] ?? Buffer.alloc(640));
          await answer;
          clock.advance(everyMs);
        }
        socket.close(1000);
      },
    });
    await poll(() => events.filter(({ type }) => type === 'stream-closed').length).toBe(1);
    const wrong = events.filter(
      (event) => /-(finding|verdict)$/.test(event.type) && event.level === 'warning',
    );
    expect(wrong.length).toBeGreaterThan(0);
    expect(new Set(wrong.map(({ type, from }) => `${from}: ${type.split('-')[0]}`))).toEqual(
      new Set([`${side}: ${side}`]),
    );
  });
});
