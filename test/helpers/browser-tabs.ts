import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { hasBrowser, type StartedBrowser, startBrowser } from './browser.ts';

/**
 * One browser for all tests of a file, if there is one. The function opens a tab, which is closed after the test. A tab
 * `apart` shares nothing with others: a clock that is installed in a tab is in all later ones of its context.
 */
export function setUpTabs(): (kind?: 'apart') => Promise<Page> {
  let browser: StartedBrowser | undefined;
  beforeAll(async () => {
    if (hasBrowser) browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  const pages: Page[] = [];
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  return async (kind) => {
    const { context } = browser!;
    const page = kind === 'apart' ? await context.browser()!.newPage() : await context.newPage();
    pages.push(page);
    return page;
  };
}
