import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { durationSchema } from '../../src/protocol/duration.ts';
import { createSchemaPlaces, rateMark } from '../../src/protocol/schema-places.ts';

interface Tree {
  name: string;
  inner?: Tree | undefined;
}
const tree: z.ZodType<Tree> = z.lazy(() => z.strictObject({ name: z.string(), inner: tree.optional() }));

const places = createSchemaPlaces(
  z.strictObject({
    wait: durationSchema.optional(),
    rate: z
      .number()
      .meta({ [rateMark]: true })
      .optional(),
    steps: z.array(z.union([z.strictObject({ say: z.string() }), z.strictObject({ pause: durationSchema })])),
    either: z.union([durationSchema, z.number().meta({ [rateMark]: true }), z.null()]),
    named: z.record(z.string(), z.strictObject({ after: durationSchema })),
    tree,
    text: z.string().nullable(),
  }),
);

describe('a place in a file', () => {
  test.each([
    [[], ['wait', 'rate', 'steps', 'either', 'named', 'tree', 'text']],
    [['steps'], []],
    [
      ['steps', 0],
      ['say', 'pause'],
    ],
    [['named', 'any'], ['after']],
    [['tree'], ['name', 'inner']],
    [
      ['tree', 'inner', 'inner'],
      ['name', 'inner'],
    ],
    [['wait'], []],
    [['nowhere'], []],
    [['nowhere', 'else'], []],
  ])('%j has the settings %j', (path, keys) => {
    expect(places.keysAt(path)).toEqual(keys);
  });

  test.each([
    [['wait'], true],
    [['steps', 3, 'pause'], true],
    [['either'], true],
    [['named', 'x', 'after'], true],
    [['steps', 3, 'say'], false],
    [['rate'], false],
    [[], false],
  ])('%j takes a duration: %j', (path, isDuration) => {
    expect(places.isDuration(path)).toBe(isDuration);
  });

  test.each([
    [['rate'], true],
    [['either'], true],
    [['wait'], false],
  ])('%j takes a rate: %j', (path, isRate) => {
    expect(places.isRate(path)).toBe(isRate);
  });

  test.each([
    [['steps', 0, 'say'], true],
    [['text'], true],
    [['rate'], false],
    [['either'], false],
    [['nowhere'], false],
  ])('%j takes text alone: %j', (path, isText) => {
    expect(places.isText(path)).toBe(isText);
  });
});
