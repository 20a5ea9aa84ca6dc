import { expect, test } from 'vitest';
import { createConnectionSlots } from '../../../src/service/state/connection-slots.ts';

test('a device has as many slots as were given, and each device its own', () => {
  const slots = createConnectionSlots(2);
  expect(slots.take('a')?.connections).toBe(1);
  expect(slots.take('a')?.connections).toBe(2);
  expect(slots.take('a')).toBeUndefined();
  expect(slots.take('b')?.connections).toBe(1);
  expect([...slots.inUse()]).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
});

test('a slot that is released can be taken again, and releasing it twice frees one only', () => {
  const slots = createConnectionSlots(2);
  const first = slots.take('a');
  const second = slots.take('a');
  first?.release();
  first?.release();
  expect(slots.inUse().get('a')).toBe(1);
  expect(slots.take('a')).toBeDefined();
  expect(slots.take('a')).toBeUndefined();
  second?.release();
});

test('a device without connections is forgotten', () => {
  const slots = createConnectionSlots(2);
  slots.take('a')?.release();
  expect(slots.inUse().size).toBe(0);
});
