import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { afterEach } from 'vitest';

/** Debian's package puts it there. */
const executablePath = '/usr/bin/chromium';

/** Whether a real browser is here; a test that needs it is left out, loudly, where there is none. */
export const hasBrowser = existsSync(executablePath);
if (!hasBrowser) console.warn('No /usr/bin/chromium: tests in a real browser are left out (chromium)');

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts browsers with a new and empty profile; after each test they are closed. */
export function setUpBrowsers() {
  const started: { context: BrowserContext; profile: string }[] = [];
  afterEach(async () => {
    for (const { context, profile } of started.splice(0)) {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    }
  });
  return async (colorScheme: 'light' | 'dark' = 'light') => {
    const profile = mkdtempSync(join(tmpdir(), 'voicectl-chromium-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath,
      headless: true,
      args: flags,
      colorScheme,
      viewport: { width: 1280, height: 1000 },
    });
    started.push({ context, profile });
    return context;
  };
}
