import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { parse } from 'yaml';
import { createEmulator } from '../../src/emulator/emulator.ts';
import type { DialectInput } from '../../src/protocol/dialect.ts';
import type { Judgement } from '../../src/service/events.ts';
import { mutants } from '../conformance/mutants.ts';
import { encodings, wavFile } from '../helpers/device-audio.ts';
import { farDialects } from '../helpers/far-dialects.ts';
import { hasForeignService, startForeignService } from '../helpers/foreign-service.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { converse, type DeviceBehaviour, framesOf } from '../helpers/proxied-device.ts';
import { setUpProxies, type WatchedProxy } from '../helpers/proxies.ts';
import { setUpSandbox } from '../helpers/voicectl.ts';

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

describe('an honest device and an honest service', () => {
  test.each(dialects)('break no rule %s', async (_name, dialect) => {
    await using emulator = await createEmulator({ dialect, reply: 'echo' });
    const proxy = await startProxy(emulator);
    await converse(proxy, { times: 3 });
    expect(await judged(proxy, 3)).toEqual([]);
    expect(proxy.judged().violations).toBe(0);
  });
});

describe.skipIf(!hasForeignService)('an honest device and a service of another make', () => {
  const sandbox = setUpSandbox();
  test('break no rule', async () => {
    const service = await startForeignService(sandbox);
    const proxy = await startProxy(service);
    await converse(proxy, { times: 2 });
    expect(await judged(proxy, 2)).toEqual([]);
  });
});

/** Rules of the service that an honest device brings to light by talking. */
const seenByTalking = [
  ...['R1', 'R3', 'R4', 'R6', 'R9', 'R10', 'R11', 'R12', 'R13', 'R23', 'R24', 'R25', 'R28'],
  ...['R33', 'R34', 'R35', 'R37', 'R38', 'R39'],
];
const visible = mutants.filter(
  ({ rule, level, does }) =>
    level === undefined && seenByTalking.includes(rule) && !/answers text|has no unversioned/.test(does),
);

describe('a service that breaks one rule', () => {
  test.each(visible)('$rule: it $does', async ({ rule, change, verdict, also = [] }) => {
    await using service = await startMiniService(change);
    const proxy = await startProxy(service);
    await converse(proxy, { times: 2 });
    await expect.poll(() => judgements(proxy).map((one) => one.rule), { timeout: 10_000 }).toContain(rule);
    const found = judgements(proxy).filter(({ type }) => verdict === 'warn' || type === 'violation');
    const others = found.filter((one) => one.rule !== rule && !also.includes(one.rule));
    expect(others.filter(({ type }) => type === 'violation')).toEqual([]);
    expect(found.every(({ from }) => from === 'service')).toBe(true);
  });
});

const bad: [rule: string, does: string, change: Partial<DeviceBehaviour>, streams?: number][] = [
  [
    'D1',
    'asks as a form',
    { request: (fields) => ({ body: JSON.stringify(fields), type: 'text/plain' }) },
    0,
  ],
  ['D2', 'puts the token into quotes', { present: (token) => JSON.stringify(token) }],
  ['D2', 'sends the token as a binary message', { present: (token) => Buffer.from(token) }],
  ['D4', 'sends audio before the confirmation', { early: framesOf(Buffer.alloc(1_280)) }],
  ['D5', 'sends a WAV file', { audio: [wavFile.subarray(0, 6_400)] }],
  ['D5', 'sends floats', { audio: framesOf(encodings.float32().subarray(0, 128_000)) }],
  ['D5', 'sends half samples', { audio: [Buffer.alloc(641), Buffer.alloc(640)] }],
  ['D13', 'cuts the connection', { close: (socket) => socket.terminate() }],
  ['D13', 'closes without a code', { close: (socket) => socket.close() }],
];

describe('a device that breaks one rule', () => {
  test.each(bad)('%s: it %s', async (rule, _does, change, streams = 1) => {
    // What a device sends early must arrive early.
    const faults = 'early' in change ? ['connected-late:delay=300ms'] : [];
    await using emulator = await createEmulator({ reply: 'silence', faults });
    const proxy = await startProxy(emulator);
    await converse(proxy, change);
    const found = await judged(proxy, streams);
    expect(found.map((text) => text.split(':')[0])).toEqual([`device ${rule}`]);
  });

  test('D3: it uses a token twice; it is told once for each stream', async () => {
    await using emulator = await createEmulator({ dialect: { token: { singleUse: false } } });
    const proxy = await startProxy(emulator);
    await converse(proxy, { times: 2, keepsToken: true });
    const found = await judged(proxy, 2);
    expect(new Set(found.map((text) => text.split(':')[0]))).toEqual(new Set(['device D3']));
  });
});

test('who looks at an open stream sees what it breaks, and that it is a connection of its device', async () => {
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

test('with a dialect, a remark is a violation', async () => {
  await using emulator = await createEmulator({ reply: 'silence' });
  const proxy = await startProxy(emulator, { dialect: {} });
  await converse(proxy, { close: (socket) => socket.close(1001) });
  expect(await judged(proxy)).toEqual([expect.stringContaining('device D13: it closed with 1001')]);
});
