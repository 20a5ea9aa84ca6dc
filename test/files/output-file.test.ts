import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeText } from '../../src/files/output-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'voicectl-export-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each([
  ['a new file', undefined],
  ['a file that everybody could read', 'longer than what comes'],
])('an export into %s can be read by the user only', async (_what, before) => {
  const path = join(folder, 'session.html');
  if (before !== undefined) writeFileSync(path, before, { mode: 0o644 });
  await writeText(path, 'voices', { isPrivate: true });
  expect(readFileSync(path, 'utf8')).toBe('voices');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a file that cannot be written is reported', async () => {
  await expect(writeText(join(folder, 'no', 'file'), '')).rejects.toMatchObject({ code: 'input-output' });
});
