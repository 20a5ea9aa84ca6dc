import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeText, writeWhole } from '../../src/files/output-file.ts';

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

test('a file that is replaced keeps its mode, and a link to it stays a link', async () => {
  const [path, link] = [join(folder, 'report.xml'), join(folder, 'latest.xml')];
  writeFileSync(path, 'old');
  chmodSync(path, 0o640);
  symlinkSync('report.xml', link);
  await writeWhole(link, 'new');
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readdirSync(folder)).toEqual(['latest.xml', 'report.xml']);
});

test.skipIf(process.platform !== 'linux')(
  'a file whose folder takes no new files is written as it is',
  async () => {
    const name = '/proc/self/comm';
    const before = readFileSync(name, 'utf8').trim();
    await writeWhole(name, 'replaced');
    expect(readFileSync(name, 'utf8')).toBe('replaced\n');
    await writeWhole(name, before);
  },
);
