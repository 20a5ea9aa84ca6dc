import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { writeTrustFiles } from '../../../src/commands/child/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-environment-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => void vi.unstubAllEnvs());

test('a child trusts the certificate, and what its own variable named before', async () => {
  vi.stubEnv('TMPDIR', folder);
  const { env, remove } = await writeTrustFiles('one', { NODE_EXTRA_CA_CERTS: join(folder, 'missing') });
  expect(await readFile(env.VOICECTL_CA ?? '', 'utf8')).toBe('one');
  expect(await readFile(env.NODE_EXTRA_CA_CERTS ?? '', 'utf8')).toBe('one\n');
  await remove();
  await expect(readFile(env.VOICECTL_CA ?? '')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a temporary folder that does not exist is an output that cannot be written', async () => {
  vi.stubEnv('TMPDIR', join(folder, 'missing'));
  await expect(writeTrustFiles('one', {})).rejects.toMatchObject({ code: 'input-output', exitCode: 8 });
});
