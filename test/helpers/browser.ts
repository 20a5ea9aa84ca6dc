import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

/** Debian's packages put them there. The first one is the engine without a window: it starts and draws for half as much. */
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = browsers.find((path) => existsSync(path));

/** Whether a real browser is here; a test that needs it is left out, loudly, where there is none. */
export const hasBrowser = executablePath !== undefined;
if (!hasBrowser)
  console.warn(`No ${browsers.join(' or ')}: tests in a real browser are left out (chromium-headless-shell)`);

/**
 * Of each list of this flag only the last counts: the first ones are of Playwright. The others would start a process for
 * the address bar of each window, which nobody sees.
 */
const withoutFeatures = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'OptimizationHints', 'PaintHolding'],
  ...['NetworkTimeServiceQuerying', 'PreconnectToSearch', 'ThirdPartyStoragePartitioning'],
  ...[
    'WebUIOmniboxPopup',
    'WebUIOmniboxAimPopup',
    'WebUIReloadButton',
    'InitialWebUI',
    'PreloadTopChromeWebUI',
  ],
];

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-gpu-compositing',
  '--use-gl=disabled',
  `--disable-features=${withoutFeatures.join(',')}`,
  // No process for a tab that nobody has opened yet.
  '--renderer-process-limit=1',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
];

export interface StartedBrowser {
  context: BrowserContext;
  close(): Promise<void>;
}

/** Starts a browser with a new and empty profile, and a microphone that beeps. */
export async function startBrowser(): Promise<StartedBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'voicectl-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    ...(executablePath === undefined ? {} : { executablePath }),
    headless: true,
    args: flags,
    viewport: { width: 1280, height: 1000 },
  });
  return {
    context,
    async close() {
      await context.close();
      // Its last processes may write meanwhile.
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/** Waits until a condition holds, 20 s at most: looks every 20 ms. Allowed under any policy of the page. */
export function until(page: Page, condition: string): Promise<void> {
  return page.evaluate(
    `new Promise((resolve, reject) => {
      const end = performance.now() + 20_000;
      const look = () => {
        if (${condition}) resolve();
        else if (performance.now() > end) reject(new Error(${JSON.stringify(`Never: ${condition}`)}));
        else setTimeout(look, 20);
      };
      look();
    })`,
  );
}
