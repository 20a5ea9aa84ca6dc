import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { hasBrowser, type StartedBrowser, startBrowser } from './browser.ts';

/** One browser for all tests of a file, if there is one. The function opens a tab, which is closed after the test. */
export function setUpTabs(): () => Promise<Page> {
  let browser: StartedBrowser | undefined;
  beforeAll(async () => {
    if (hasBrowser) browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  const pages: Page[] = [];
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  return async () => {
    const page = await browser!.context.newPage();
    pages.push(page);
    return page;
  };
}
