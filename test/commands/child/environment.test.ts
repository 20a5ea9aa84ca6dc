import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { writeTrustFiles } from '../../../src/commands/child/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-environment-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => void vi.unstubAllEnvs());

test('a child trusts the certificate, and what its own variable named before', async () => {
  vi.stubEnv('TMPDIR', folder);
  const before = join(folder, 'before.pem');
  await writeFile(before, 'another');
  const { env, remove } = await writeTrustFiles('one', { NODE_EXTRA_CA_CERTS: before });
  expect(await readFile(env.VOICECTL_CA ?? '', 'utf8')).toBe('one');
  expect(await readFile(env.NODE_EXTRA_CA_CERTS ?? '', 'utf8')).toBe('one\nanother');
  await remove();
  await expect(readFile(env.VOICECTL_CA ?? '')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a temporary folder that does not exist is an output that cannot be written', async () => {
  vi.stubEnv('TMPDIR', join(folder, 'missing'));
  await expect(writeTrustFiles('one', {})).rejects.toMatchObject({ code: 'input-output', exitCode: 8 });
});
