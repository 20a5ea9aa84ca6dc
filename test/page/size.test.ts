import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const built = join(import.meta.dirname, '../../dist/page');
const textOf = (file: string) => readFileSync(join(built, file), 'utf8');

/** A file and all that it loads at once. */
function loadedWith(file: string): string[] {
  const found = [...textOf(file).matchAll(/from"\.\/([^"]+)"|import"\.\/([^"]+)"/g)];
  return [file, ...found.flatMap(([, name, bare]) => loadedWith(name ?? bare ?? ''))];
}

test.each(['app.js', 'verdicts.js', 'recording.js'])(
  'what %s loads is at most 37.5 kB, compressed',
  (entry) => {
    const files = new Set([...loadedWith(entry), 'app.css', 'icon.svg']);
    const sizes = [...files].map((file) => gzipSync(textOf(file), { level: 9 }).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(5_000);
    expect(total).toBeLessThanOrEqual(37_500);
  },
);

test('no page contains an address to load from', () => {
  const files = readdirSync(built).filter((name) => /\.(js|css)$/.test(name));
  const addresses = files.flatMap((name) => textOf(name).match(/https?:\/\/[\w.]+/g) ?? []);
  // Names of things in XML are no addresses, and neither is the emulator's default.
  expect(addresses.filter((one) => !/www\.w3\.org|127\.0\.0\.1/.test(one))).toEqual([]);
});
