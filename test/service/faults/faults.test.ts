import * as net from 'node:net';
import { expect, test } from 'vitest';
import type { FaultInput } from '../../../src/protocol/faults.ts';
import { streamPath } from '../../../src/protocol/paths.ts';
import { readFault } from '../../../src/protocol/read-fault.ts';
import { createEmulatorEvents, type EmulatorEvent } from '../../../src/service/events.ts';
import { createFaults } from '../../../src/service/faults/faults.ts';
import { createRandom } from '../../../src/service/random.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';

const startEmulator = setUpEmulators();

function create(initial: FaultInput[] = [], seed = 1) {
  const events = createEmulatorEvents(() => 0);
  const told: EmulatorEvent[] = [];
  events.subscribe((event) => told.push(event));
  return { ...createFaults({ initial, random: createRandom(seed), events }), told };
}

test('a fault strikes at its own point only', () => {
  const { strike } = create([{ name: 'token-hang' }]);
  expect(strike('upgrade', {})).toEqual([]);
  expect(strike('token', { device: 'd1' })).toMatchObject([{ name: 'token-hang' }]);
});

test('a fault of one device or one stream leaves the others alone', () => {
  const { strike } = create([
    { name: 'close', device: 'd1' },
    { name: 'reset', stream: 2 },
  ]);
  const names = (device: string, stream: number) =>
    strike('live', { device, stream }).map(({ name }) => name);
  expect(names('d1', 1)).toEqual(['close']);
  expect(names('d2', 2)).toEqual(['reset']);
  expect(names('d2', 3)).toEqual([]);
});

test('a fault with a count strikes that often, then never again', () => {
  const { strike, list } = create([{ name: 'rate-limited', times: 2 }]);
  expect([1, 2, 3, 4].map(() => strike('token', {}).length)).toEqual([1, 1, 0, 0]);
  expect(list()).toMatchObject([{ id: 1, struck: 2 }]);
});

test('a fault with a probability strikes about that often, and repeatably with the same seed', () => {
  const strikes = (seed: number) => {
    const { strike } = create([{ name: 'drop', probability: 0.3 }], seed);
    return Array.from({ length: 1_000 }, () => strike('audio', {}).length);
  };
  const count = strikes(7).filter((struck) => struck === 1).length;
  expect(count).toBeGreaterThan(250);
  expect(count).toBeLessThan(350);
  expect(strikes(7)).toEqual(strikes(7));
  expect(strikes(7)).not.toEqual(strikes(8));
});

test('each strike is reported, but only the first for the audio of one stream', () => {
  const { strike, told } = create([{ name: 'token-hang' }, { name: 'drop' }]);
  strike('token', { device: 'd1' });
  strike('token', { device: 'd1' });
  const subject = { device: 'd1', stream: 4, reported: new Set<number>() };
  strike('audio', subject);
  strike('audio', subject);
  expect(told).toEqual([
    { t: 0, type: 'fault-struck', level: 'warning', fault: 'token-hang', id: 1, device: 'd1' },
    { t: 0, type: 'fault-struck', level: 'warning', fault: 'token-hang', id: 1, device: 'd1' },
    { t: 0, type: 'fault-struck', level: 'warning', fault: 'drop', id: 2, device: 'd1', stream: 4 },
  ]);
});

test('clear removes one fault or all, and reset restores the initial ones', () => {
  const { add, clear, reset, list, strike } = create([{ name: 'mute', times: 1 }]);
  strike('audio', {});
  const { id } = add({ name: 'drop' });
  expect(clear(id)).toBe(1);
  expect(clear(99)).toBe(0);
  add({ name: 'drop' });
  expect(clear()).toBe(2);
  expect(list()).toEqual([]);
  reset();
  expect(list()).toMatchObject([{ struck: 0, fault: { name: 'mute' } }]);
});

test('reset announces the initial faults to connections that are open', () => {
  const { reset, onAdded } = create([{ name: 'mute' }]);
  const struck: string[] = [];
  onAdded((strike) => struck.push(...strike('audio', {}).map(({ name }) => name)));
  reset();
  expect(struck).toEqual(['mute']);
});

test('faults of one emulator have numbers of their own, and stay if those of the service change', () => {
  const events = createEmulatorEvents(() => 0);
  const faults = createFaults({ initial: [], random: createRandom(1), events, firstId: 1_000 });
  faults.sync([{ id: 1, fault: readFault('mute') }]);
  expect(faults.add('drop').id).toBe(1_000);
  faults.sync([{ id: 2, fault: readFault('deaf') }]);
  expect(faults.list().map(({ id, fault }) => [id, fault.name])).toEqual([
    [1_000, 'drop'],
    [2, 'deaf'],
  ]);
});

test('an invalid fault is a usage error that says what is wrong', () => {
  const { add } = create();
  expect(() => add({ name: 'nope' } as never)).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringContaining('"nope"') }),
  );
  expect(() => add({ name: 'close', code: 1005 })).toThrow(/code: expected a close code that may be sent/);
});

test('a fault that is refused takes no number', () => {
  const { add } = create();
  expect(() => add('nope')).toThrow('nope');
  expect(add('mute').id).toBe(1);
  expect(() => add({ name: 'close', code: 1005 })).toThrow('code');
  expect(add('mute').id).toBe(2);
});

test('a thousand faults are accepted, and no more', () => {
  const { add } = create();
  for (let count = 0; count < 1_000; count += 1) add({ name: 'mute' });
  expect(() => add({ name: 'mute' })).toThrow(/More than 1000 faults/);
});

test('a new fault strikes the live streams, and the existing ones strike only once', async () => {
  const emulator = await startEmulator({ reply: 'silence' });
  const client = await emulator.connect('d1');
  emulator.control.faults.add(readFault('message-unknown:kind=first'));
  await client.until(() => client.messages.some(({ type }) => type === 'first'));
  emulator.control.faults.add(readFault('message-unknown:kind=second'));
  await client.until(() => client.messages.some(({ type }) => type === 'second'));
  expect(emulator.events.filter(({ type }) => type === 'fault-struck')).toHaveLength(2);
});

test('a device that is rate limited twice gets its token at the third request', async () => {
  const emulator = await startEmulator({ faults: [readFault('rate-limited:times=2')] });
  const statuses = [];
  for (let count = 0; count < 3; count += 1) statuses.push((await emulator.requestToken()).status);
  expect(statuses).toEqual([429, 429, 200]);
});

test('a half-open connection gives its slot back when the device leaves', async () => {
  const emulator = await startEmulator({ maxConnections: 1, faults: [readFault('half-open:times=1')] });
  const client = await emulator.connect('d1');
  client.socket.terminate();
  await emulator.event('stream-closed');
  await emulator.connect('d1');
});

test('a token that is delayed is not granted once the emulator has closed', async () => {
  const clock = createCountedClock();
  const emulator = await startEmulator({ clock, faults: ['token-slow:delay=30s'] });
  const asked = emulator.requestToken().catch(() => 'no answer');
  await emulator.event('fault-struck');
  await emulator.close();
  expect(await asked).toBe('no answer');
  expect(clock.pending).not.toContain(30_000);
  clock.advance(30_000);
  await new Promise(setImmediate);
  expect(emulator.events.some(({ type }) => type === 'token-issued')).toBe(false);
});

test('an upgrade that is kept waiting does not keep the emulator from closing', async () => {
  const emulator = await startEmulator({ faults: [readFault('upgrade-hang')] });
  emulator.open().opened.catch(() => {});
  await emulator.event('fault-struck');
  await emulator.close();
});

test('an upgrade that is kept waiting is released when the device gives up', async () => {
  const emulator = await startEmulator({ faults: [readFault('upgrade-hang')] });
  const socket = net.connect(emulator.port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(
    `GET ${streamPath} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  await emulator.event('fault-struck');
  socket.end();
  // The emulator ends its half as well, or the socket would stay.
  await closed;
});

test.each(['clicks', 'dropouts'])('%s are at least 10 ms apart', (name) => {
  expect(() => readFault(`${name}:every=9ms`)).toThrow(/every: expected at least 10ms/);
  const rest = name === 'dropouts' ? ',for=5ms' : '';
  expect(readFault(`${name}:every=10ms${rest}`)).toMatchObject({ every: 10 });
});

test('dropouts are shorter than the audio between them', () => {
  for (const fault of ['dropouts:every=20ms', 'dropouts:every=100ms,for=150ms', 'dropouts:for=1s'])
    expect(() => readFault(fault)).toThrow('dropouts: for: expected less than the value of every');
  expect(readFault('dropouts:every=100ms,for=99ms')).toMatchObject({ every: 100, for: 99 });
});
