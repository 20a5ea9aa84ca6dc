import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withReferences } from '../docs/reference.ts';

test('the reference in the README is what the code says (npm run docs writes it anew)', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  await expect(withReferences(readme)).toMatchFileSnapshot('../README.md');
});
