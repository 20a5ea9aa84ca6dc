import { expect, test } from 'vitest';
import { createConnectionSlots } from '../../../src/emulator/state/connection-slots.ts';

test('a device has as many slots as were given, and each device its own', () => {
  const slots = createConnectionSlots(2);
  expect(slots.take('a')).toBeDefined();
  expect(slots.take('a')).toBeDefined();
  expect(slots.take('a')).toBeUndefined();
  expect(slots.take('b')).toBeDefined();
  expect([slots.inUse('a'), slots.inUse('b'), slots.inUse('c')]).toEqual([2, 1, 0]);
});

test('a slot that is released can be taken again, and releasing it twice frees one only', () => {
  const slots = createConnectionSlots(2);
  const first = slots.take('a');
  slots.take('a');
  first?.release();
  first?.release();
  expect(slots.inUse('a')).toBe(1);
  expect(slots.take('a')).toBeDefined();
  expect(slots.take('a')).toBeUndefined();
});
