import { expect, test } from 'vitest';
import { createRandom } from '../../src/service/random.ts';

const draw = (seed?: number) => {
  const random = createRandom(seed);
  return [random.id(), random.id(), random.id()];
};

test('a seed gives the same identifiers in each run, and another seed gives others', () => {
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
  expect(draw(0)).toEqual(draw(0));
});

test('identifiers differ from one another, with a seed and without', () => {
  expect(new Set([...draw(7), ...draw(), ...draw()]).size).toBe(9);
});

test('an identifier has the form of a UUID', () => {
  for (const id of [...draw(7), ...draw()]) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
