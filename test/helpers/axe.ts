import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with what is shown in light, and with its colours in dark. */
export async function wrongWith(page: Page): Promise<unknown[]> {
  await page.evaluate(axe.source);
  const found: unknown[] = [];
  for (const [colorScheme, rules] of [
    ['light', {}],
    ['dark', { runOnly: ['color-contrast', 'link-in-text-block'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const wrong = await page.evaluate<unknown[]>(
      `axe.run(${JSON.stringify(rules)}).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
    );
    found.push(...wrong.map((one) => [colorScheme, one]));
  }
  return found;
}
