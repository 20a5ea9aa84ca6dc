import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { publishedSchemas, withReferences } from '../docs/reference.ts';

test('the reference in the README is what the code says (npm run docs writes it anew)', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  await expect(withReferences(readme)).toMatchFileSnapshot('../README.md');
});

test.each(Object.entries(publishedSchemas))(
  'the published %s is what the code says (npm run docs writes it anew)',
  async (path, schema) => {
    await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(`../${path}`);
  },
);
