import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openBrowser, preparePage } from '../../../src/commands/serve/page.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-opener-'));
afterEach(() => vi.unstubAllEnvs());

test.runIf(process.platform === 'linux')(
  '--open gives the address to the opener of the desktop',
  async () => {
    const opener = join(folder, 'xdg-open');
    writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > "${folder}/given"\n`);
    chmodSync(opener, 0o755);
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    await openBrowser('http://127.0.0.1:1/__voicectl/#secret');
    await vi.waitFor(() =>
      expect(readFileSync(join(folder, 'given'), 'utf8')).toBe('http://127.0.0.1:1/__voicectl/#secret'),
    );
    rmSync(folder, { recursive: true });
  },
);

test('the address of the page has the secret in its fragment, and there is none beyond loopback', async () => {
  const page = await preparePage('http://127.0.0.1:8787');
  const at = (host: string) => page.url({ baseUrl: `http://${host}:8787`, wsUrl: `ws://${host}:8787` });
  expect(at('127.0.0.1')).toMatch(/^http:\/\/127\.0\.0\.1:8787\/__voicectl\/#[\w-]{32}$/);
  expect(at('192.0.2.1')).toBeUndefined();
});
