import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { schemas } from '../docs/schemas.ts';

const root = new URL('../', import.meta.url);

test.each(Object.entries(schemas))(
  'schema/%s matches the code (npm run docs regenerates it)',
  async (file, schema) => {
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(`../schema/${file}`);
  },
);

test('the published schema of conversations requires the unit of a duration, like the program', () => {
  const validate = new Ajv2020({ strict: false }).compile(schemas['expect-file.schema.json'] ?? {});
  const turn = (within: unknown) => ({ turns: [{ expect: [{ audio: '2s', within }] }] });
  for (const good of ['500ms', '1.5s', '2 minutes', 0, '0']) expect(validate(turn(good))).toBe(true);
  for (const bad of [500, '500', -1, '', 's']) expect(validate(turn(bad))).toBe(false);
});

describe('the published schema of scenarios', () => {
  const validate = new Ajv2020({ strict: false }).compile(schemas['scenario.schema.json'] ?? {});
  const folder = new URL('examples/scenarios/', root);

  test.each(readdirSync(folder))('finds nothing wrong with %s', (file) => {
    validate(parse(readFileSync(new URL(file, folder), 'utf8')));
    expect(validate.errors).toBeNull();
  });

  test('finds a step without a trigger, an action that does nothing, and one that does two things', () => {
    expect(validate({ steps: [{ do: [] }] })).toBe(false);
    expect(validate({ steps: [{ when: 'connected', do: [{}] }] })).toBe(false);
    expect(validate({ steps: [{ when: 'connected', do: [{ wait: '1s', status: 'speaking' }] }] })).toBe(
      false,
    );
  });
});
