import { describe, expect, test } from 'vitest';
import type { SessionEvent } from '../../src/session/events.ts';
import { boundEvent, createPendingEvents, foldSessionEvents } from '../../src/ui/pending-events.ts';
import { audio } from './screens.ts';

test('audio within a frame becomes one event for each direction, in order with the other events', () => {
  const pending = createPendingEvents<SessionEvent>(foldSessionEvents);
  const [out, incoming] = [audio('out', { from: 0, until: 300 }), audio('in', { from: 0, until: 300 })];
  for (const [index, event] of out.entries()) {
    pending.add(event);
    pending.add(incoming[index]!);
  }
  pending.add({ t: 300, type: 'state', state: 'draining' });
  pending.add(out[0]!);
  const { events, leftOut } = pending.drain();
  expect(events.map((event) => [event.type, 'frames' in event ? event.frames : 0])).toEqual([
    ['audio', 15],
    ['audio', 15],
    ['state', 0],
    ['audio', 5],
  ]);
  expect(leftOut).toBe(0);
  expect(pending.drain().events).toEqual([]);
});

test('audio that comes after an interruption is not told before it', () => {
  const pending = createPendingEvents<SessionEvent>(foldSessionEvents);
  const [first, second] = audio('in', { from: 0, until: 300 });
  const interrupted = { t: 10, type: 'message', category: 'status', kind: 'interrupted', body: {} } as const;
  for (const event of [first!, interrupted, second!]) pending.add(event);
  expect(pending.drain().events).toEqual([first, interrupted, second]);
});

test('a screen that does not draw costs bounded memory, and is told how much it missed', () => {
  const pending = createPendingEvents<{ type: string; index: number }>(() => undefined);
  for (let index = 0; index < 10_000; index += 1) pending.add({ type: 'message', index });
  expect(pending.size).toBeLessThanOrEqual(4_000);
  const { events, leftOut } = pending.drain();
  expect(events.at(-1)?.index).toBe(9_999);
  expect(events.length + leftOut).toBe(10_000);
});

test('rare events in a flood are not dropped', () => {
  const pending = createPendingEvents<{ type: string }>(() => undefined);
  const flood = (count: number) => {
    for (let index = 0; index < count; index += 1) pending.add({ type: 'message' });
  };
  pending.add({ type: 'state' });
  flood(10_000);
  pending.add({ type: 'warning' });
  flood(10_000);
  const { events, leftOut } = pending.drain();
  expect(events.filter(({ type }) => type !== 'message')).toEqual([{ type: 'state' }, { type: 'warning' }]);
  expect(events.length + leftOut).toBe(20_002);
});

const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

describe('data from the network, before it is sent to a screen', () => {
  test('is unchanged if it is small', () => {
    const event = { type: 'message', body: { type: 'status', list: [1, { a: '你' }] } };
    expect(boundEvent(event)).toBe(event);
  });

  test('is cut if it is long, and says so', () => {
    const { body } = boundEvent({ type: 'message', body: { text: 'x'.repeat(1_000_000) } as unknown });
    expect(String(body).length).toBeLessThan(33_000);
    expect(body).toMatch(/x … \(1000011 characters\)$/);
  });

  test.each([50, 150, 5_000, 100_000])('nested %i levels deep can be passed on', (depth) => {
    expect(() => JSON.stringify(boundEvent({ type: 'message', body: nested(depth) }))).not.toThrow();
  });

  test('is limited in the claims of a token too', () => {
    const { claims } = boundEvent({ type: 'token', claims: { sub: 'y'.repeat(100_000) } as unknown });
    expect(String(claims).length).toBeLessThan(33_000);
  });

  test('is limited where it names the kind of a message, also in the summary', () => {
    const kind = '好'.repeat(1_000_000);
    const message = boundEvent({ type: 'message', kind, body: {} });
    expect(message.kind).toMatch(/^好{256}…$/);
    const summary = boundEvent({ type: 'summary', events: { status: 2, [kind]: 1 }, verdicts: [] });
    expect(summary.events).toEqual({ status: 2, [message.kind]: 1 });
  });

  test('is limited in the failure of a session', () => {
    const { failure } = boundEvent({
      type: 'summary',
      failure: { kind: 'service-error', message: 'z'.repeat(1_000_000) },
    });
    expect(failure.message.length).toBeLessThan(33_000);
    expect(failure.kind).toBe('service-error');
  });
});
