import { expect, test } from 'vitest';
import { createConnectionSlots } from '../../../src/service/state/memory.ts';

test('a device has as many slots as were given, and each device its own', () => {
  const slots = createConnectionSlots(2);
  expect(slots.acquire('a')?.connections).toBe(1);
  expect(slots.acquire('a')?.connections).toBe(2);
  expect(slots.acquire('a')).toBeUndefined();
  expect(slots.acquire('b')?.connections).toBe(1);
  expect([...slots.inUse()]).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
});

test('a slot that is released can be taken again, and releasing it twice frees one only', () => {
  const slots = createConnectionSlots(2);
  const first = slots.acquire('a');
  const second = slots.acquire('a');
  first?.release();
  first?.release();
  expect(slots.inUse().get('a')).toBe(1);
  expect(slots.acquire('a')).toBeDefined();
  expect(slots.acquire('a')).toBeUndefined();
  second?.release();
});

test('a device without connections is forgotten', () => {
  const slots = createConnectionSlots(2);
  slots.acquire('a')?.release();
  expect(slots.inUse().size).toBe(0);
});
