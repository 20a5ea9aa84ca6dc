import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** It runs in the page alone: to load it here too takes longer than to read it. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** What axe finds wrong with a part of what is shown in light, and with its colours in dark. Default: with all of it. */
export async function wrongWith(page: Page, part = 'html'): Promise<unknown[]> {
  await page.evaluate(axe);
  const found: unknown[] = [];
  for (const [colorScheme, rules] of [
    ['light', {}],
    ['dark', { runOnly: ['color-contrast', 'link-in-text-block'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const wrong = await page.evaluate<unknown[]>(
      `axe.run('${part}', ${JSON.stringify({ ...rules, resultTypes: ['violations'] })}).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
    );
    found.push(...wrong.map((one) => [colorScheme, one]));
  }
  return found;
}
