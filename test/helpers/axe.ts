import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with what is shown. */
export async function wrongWith(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
  );
}
