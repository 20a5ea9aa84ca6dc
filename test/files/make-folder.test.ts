import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { makeFolder } from '../../src/files/make-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'voicectl-folder-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a folder and its parents are made for the user alone, even by two runs at once', async () => {
  const folder = join(root, 'a', 'b', 'c');
  await Promise.all([makeFolder(folder), makeFolder(folder)]);
  await makeFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test.skipIf(process.platform !== 'linux')(
  'where none can be made it fails: Node itself never ends in /proc',
  async () => {
    await expect(makeFolder('/proc/voicectl/speech')).rejects.toMatchObject({ code: 'ENOENT' });
  },
);
