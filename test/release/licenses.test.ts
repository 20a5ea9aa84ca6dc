import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { licensesOf } from '../../release/licenses.js';

/** The parts of LICENSES.txt: a heading, and a text. */
function partsOf(text: string): { heading: string; body: string }[] {
  return text.split(`\n${'-'.repeat(80)}\n\n`).map((part) => {
    const [heading = '', ...lines] = part.split('\n');
    return { heading, body: lines.join('\n') };
  });
}

describe('the licences that are shipped with the bundle', () => {
  const parts = partsOf(readFileSync(join(import.meta.dirname, '..', '..', 'dist', 'LICENSES.txt'), 'utf8'));

  test('have a text for every package, with who holds the rights to it', () => {
    expect(parts.length).toBeGreaterThan(50);
    const without = parts.filter(({ body }) => !/copyright/i.test(body) || !/permi|licen[cs]e/i.test(body));
    expect(without.map(({ heading }) => heading)).toEqual([]);
  });

  test.each([
    ['@assemblyscript/loader', 'Daniel Wirtz', 'Apache License'],
    ['@redis/client', '2022-2025 Redis, inc.', 'Permission is hereby granted'],
    ['buffer-alloc', 'Linus Unnebäck', 'Permission is hereby granted'],
    ['emoji-regex', 'Mathias Bynens', 'Permission is hereby granted'],
    ['isarray', '2013 Julian Gruber', 'Permission is hereby granted'],
    ['yoga-layout', 'Meta Platforms', 'Permission is hereby granted'],
  ])('name the holder for %s, which ships no file with its licence: %s', (name, holder, words) => {
    const part = parts.find(({ heading }) => heading.startsWith(`${name} `));
    expect(part?.body).toContain(holder);
    expect(part?.body).toContain(words);
  });
});

test.each([
  ['a licence without a known text', { license: 'Zlib', author: 'A. Uthor' }],
  ['no copyright holder', { license: 'MIT' }],
])('a package without a text stops the build if it names %s', async (_what, named) => {
  const modules = mkdtempSync(join(tmpdir(), 'voicectl-licenses-'));
  onTestFinished(() => rmSync(modules, { recursive: true, force: true }));
  mkdirSync(join(modules, 'bare'));
  writeFileSync(join(modules, 'bare', 'package.json'), JSON.stringify({ version: '1.0.0', ...named }));
  await expect(licensesOf(['bare'], modules)).rejects.toThrow('bare: no licence text');
});
