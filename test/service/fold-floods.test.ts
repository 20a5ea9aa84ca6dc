import { describe, expect, test } from 'vitest';
import {
  createEmulatorEvents,
  type EmulatorEvent,
  type EmulatorEventBody,
} from '../../src/service/events.ts';
import { foldFloods } from '../../src/service/fold-floods.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

const startEmulator = setUpEmulators();

function start() {
  const clock = createManualClock();
  const events = foldFloods(createEmulatorEvents(clock.now), clock);
  const seen: EmulatorEvent[] = [];
  events.subscribe((event) => seen.push(event));
  const emit = (body: EmulatorEventBody, times = 1) => {
    for (let i = 0; i < times; i += 1) events.emit(body);
  };
  return { clock, events, seen, emit };
}

const refused = (
  more: { device?: string; path?: string } = {},
  cause: 'rateLimited' | 'notFound' = 'notFound',
) => ({ type: 'request-refused', cause, status: 404, code: 'C', message: 'm', ...more }) as const;
const text = (stream: number, bytes = 1) => ({ type: 'text-received', stream, device: 'd', bytes }) as const;

describe('refusals', () => {
  test('are reported one by one, immediately, up to 100 per cause and second', () => {
    const { seen, emit } = start();
    emit(refused(), 100);
    emit(refused({}, 'rateLimited'), 100);
    expect(seen).toHaveLength(200);
    expect(seen.every((event) => !('count' in event))).toBe(true);
  });

  test('beyond that are reported with their number when the second is over', () => {
    const { clock, seen, emit } = start();
    emit(refused(), 12_000);
    expect(seen).toHaveLength(100);
    clock.advance(999);
    expect(seen).toHaveLength(100);
    clock.advance(1);
    expect(seen.slice(100)).toMatchObject([{ type: 'request-refused', cause: 'notFound', count: 11_900 }]);
  });

  test('that continue are reported once a second, and one by one again after a quiet second', () => {
    const { clock, seen, emit } = start();
    for (let second = 0; second < 5; second += 1) {
      emit(refused(), 1_000);
      clock.advance(1_000);
    }
    const counts = seen.slice(100).map((event) => 'count' in event && event.count);
    expect(counts).toEqual([900, 1_000, 1_000, 1_000, 1_000]);
    clock.advance(1_000);
    emit(refused());
    expect(seen.at(-1)).not.toHaveProperty('count');
  });

  test('keep in one event only what they have in common', () => {
    const { events, seen, emit } = start();
    emit(refused(), 100);
    emit(refused({ device: 'a', path: '/1' }));
    emit(refused({ device: 'a', path: '/2' }));
    events.flush();
    expect(seen.at(-1)).toMatchObject({ device: 'a', count: 2 });
    expect(seen.at(-1)).not.toHaveProperty('path');
  });

  test('are all reported when the emulator stops', () => {
    const { seen, emit } = start();
    emit(refused(), 150);
    emit({ type: 'stopping' });
    expect(seen.slice(-2)).toMatchObject([{ type: 'request-refused', count: 50 }, { type: 'stopping' }]);
  });
});

describe('texts after the token', () => {
  test('are reported one by one up to 20 per stream and second, then with their number and bytes', () => {
    const { clock, seen, emit } = start();
    emit(text(1, 10), 25);
    emit(text(2));
    expect(seen).toHaveLength(21);
    clock.advance(1_000);
    expect(seen.at(-1)).toMatchObject({ stream: 1, bytes: 50, count: 5 });
  });

  test('are all reported before their stream closes', () => {
    const { seen, emit } = start();
    emit(text(1), 30);
    emit({ type: 'stream-closed', stream: 1 } as EmulatorEventBody);
    expect(seen.slice(-2)).toMatchObject([{ type: 'text-received', count: 10 }, { type: 'stream-closed' }]);
  });
});

test('other events are reported one by one, however many there are', () => {
  const { seen, emit } = start();
  emit({ type: 'fault-struck', fault: 'drop', id: 1 }, 5_000);
  expect(seen).toHaveLength(5_000);
});

test('a flood of texts leaves few events in the journal, and every text is answered', async () => {
  const emulator = await startEmulator({ reply: 'silence' });
  const client = await emulator.connect('d');
  for (let i = 0; i < 500; i += 1) client.socket.send('x');
  await client.until(
    () =>
      client.messages.filter((message) => JSON.stringify(message).includes('UNEXPECTED_TEXT')).length === 500,
  );
  client.socket.close();
  await emulator.event('stream-closed');
  const texts = emulator.control.journal.read({ type: 'text-received' }, 1_000);
  const told = texts.reduce((sum, event) => sum + (('count' in event && event.count) || 1), 0);
  expect(told).toBe(500);
  expect(texts.length).toBeLessThan(100);
  expect(emulator.control.journal.read({ type: 'message-sent' }, 1_000).length).toBeLessThan(100);
});

test('a reset reports what was counted before it, and nothing later', async () => {
  const clock = createManualClock();
  const emulator = await startEmulator({ clock, rateLimit: 0 });
  for (let i = 0; i < 120; i += 1) await emulator.requestToken('d');
  emulator.control.reset();
  clock.advance(1_000);
  const refusals = emulator.events.filter(({ type }) => type === 'request-refused');
  expect(refusals.reduce((sum, event) => sum + (('count' in event && event.count) || 1), 0)).toBe(120);
  expect(emulator.control.journal.read({}, 10)).toMatchObject([
    { type: 'control', what: 'the emulator was reset' },
  ]);
});

test('what is kept of a refused request is short, and so is its answer', async () => {
  const emulator = await startEmulator();
  const answer = await fetch(`${emulator.baseUrl}/${'x'.repeat(10_000)}`, {
    headers: { Origin: `http://${'y'.repeat(4_000)}` },
  });
  expect((await answer.text()).length).toBeLessThan(1_000);
  await fetch(`${emulator.baseUrl}/${'x'.repeat(10_000)}`);
  const refusals = emulator.control.journal.read({ type: 'request-refused' }, 10);
  expect(refusals).toHaveLength(2);
  for (const refusal of refusals) expect(JSON.stringify(refusal).length).toBeLessThan(1_000);
});
