import { expect, test } from 'vitest';
import type { SessionEvent } from '../../src/session/events.ts';
import { createPendingEvents, foldSessionEvents } from '../../src/ui/pending-events.ts';
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
  const { events, leftOut } = pending.take();
  expect(events.map((event) => [event.type, 'frames' in event ? event.frames : 0])).toEqual([
    ['audio', 15],
    ['audio', 15],
    ['state', 0],
    ['audio', 5],
  ]);
  expect(leftOut).toBe(0);
  expect(pending.take().events).toEqual([]);
});

test('a screen that does not draw costs bounded memory, and is told how much it missed', () => {
  const pending = createPendingEvents<{ type: string; index: number }>(() => undefined);
  for (let index = 0; index < 10_000; index += 1) pending.add({ type: 'message', index });
  expect(pending.size).toBeLessThanOrEqual(4_000);
  const { events, leftOut } = pending.take();
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
  const { events, leftOut } = pending.take();
  expect(events.filter(({ type }) => type !== 'message')).toEqual([{ type: 'state' }, { type: 'warning' }]);
  expect(events.length + leftOut).toBe(20_002);
});
