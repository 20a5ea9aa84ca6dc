import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { addBaseline, type BaselineResult, comparisonPage } from '../../src/report/compare-page.ts';
import { html } from '../../src/report/html.ts';
import { type ReportPage, type ReportTone, reportPage } from '../../src/report/report-page.ts';
import type { FigureChange, RunComparison } from '../../src/runs/compare/compare-runs.ts';
import { wrongWith } from '../helpers/axe.ts';
import { hasBrowser } from '../helpers/browser.ts';
import { setUpTabs } from '../helpers/browser-tabs.ts';

const hostile = `</p><script>window.hacked=1</script><img src=x onerror="window.hacked=1">\u202e\u001b[31m`;
const openTab = setUpTabs();

const figure = (change: FigureChange['change'], difference: number): FigureChange => ({
  ...{ name: `first-audio:${change}`, a: 706, b: 706 * (1 + difference), difference, noise: 0.04, change },
  ...{ isLowerBound: false, isNoiseKnown: change !== 'unknown', tolerance: null },
  why: change === 'unknown' ? 'fewer than 5 earlier runs' : null,
});

const side = { subject: 'http://127.0.0.1:8787', runs: 6, from: 0, to: 60_000 };
const comparison = (verdict: RunComparison['verdict'], more: Partial<RunComparison>): RunComparison => ({
  ...{ kind: 'load', verdict, invalid: [], figures: [], items: [], unchanged: 0 },
  ...{ a: { ...side, name: 'base.json' }, b: { ...side, name: hostile, runs: 1 } },
  ...more,
});

const pictures: [name: string, comparison: RunComparison][] = [
  [
    'worse',
    comparison('worse', { figures: [figure('worse', 0.174), figure('same', 0.01), figure('better', -0.3)] }),
  ],
  ['same', comparison('same', { figures: [figure('same', 0.001), figure('same', 12)] })],
  ['not valid', comparison('not valid', { invalid: [hostile], figures: [figure('unknown', 0.4)] })],
  [
    'a rule that was kept before',
    comparison('worse', {
      kind: 'check',
      items: [{ id: 'R12', title: hostile, a: 'pass', b: 'fail', message: hostile, change: 'worse' }],
      unchanged: 44,
    }),
  ],
];

const runPage = (tone: ReportTone): ReportPage => ({
  ...{ title: 'voicectl load', heading: 'under load', facts: [] },
  verdict: { tone, word: 'Own', text: 'The own verdict.' },
  body: html`<h2>The run</h2>`,
});

describe('the page of a run that was compared with its baseline', () => {
  const worse = { comparison: comparison('worse', { figures: [figure('worse', 0.174)] }) };
  const same = { comparison: comparison('same', { figures: [figure('same', 0.001)] }) };
  const unknown = { comparison: comparison('unknown', { figures: [figure('unknown', 0.1)] }) };
  const broken = { why: 'Not comparable: task is talk', isFailure: true };
  const begun = { why: 'b.json begins with this run', isFailure: false };

  test.each<[string, ReportTone, BaselineResult | undefined, word: string, tone: ReportTone]>([
    ['it got worse', 'good', worse, 'Worse', 'bad'],
    ['it got worse and has failed', 'bad', worse, 'Own', 'bad'],
    ['it did not get worse', 'good', same, 'Own', 'good'],
    ['it cannot be compared', 'muted', broken, 'Not compared', 'bad'],
    ['it begins the baseline', 'muted', begun, 'Own', 'muted'],
    ['there is no baseline', 'good', undefined, 'Own', 'good'],
  ])('has the worse of both verdicts if %s', (_name, own, result, word, tone) => {
    expect(addBaseline(runPage(own), result).verdict).toMatchObject({ word, tone });
  });

  test('says in its first sentence how it compares, with the figures open if they got worse, and else folded', () => {
    const page = reportPage(addBaseline(runPage('good'), worse));
    expect(page).toContain(
      'Compared with the baseline: 1 figure got worse beyond the noise. The own verdict.',
    );
    expect(page).toMatch(/first-audio:worse[\s\S]*<h2>The run/);
    expect(page).not.toContain('<details');
    expect(reportPage(addBaseline(runPage('good'), same))).toMatch(
      /The own verdict\. Compared with the baseline: not worse[\s\S]*<details class="fold"><summary>[\s\S]*first-audio:same/,
    );
  });

  test('says for each figure that was not compared why', () => {
    expect(reportPage(addBaseline(runPage('good'), unknown))).toMatch(
      /<details class="fold" open>[\s\S]*unknown[\s\S]*; fewer than 5 earlier runs/,
    );
    expect(reportPage(addBaseline(runPage('good'), broken))).toContain('Not comparable: task is talk.');
  });

  test('shows what failed in the run before what got worse', () => {
    expect(reportPage(addBaseline(runPage('bad'), worse))).toMatch(/<h2>The run[\s\S]*first-audio:worse/);
  });
});

describe('the page of a comparison', () => {
  test('starts with the verdict, then shows what got worse, and folds the rest', () => {
    const [[, worse] = ['', comparison('worse', {})]] = pictures;
    const page = comparisonPage(worse);
    const places = [
      'Did it get worse?',
      '1 figure got worse beyond the noise',
      'first-audio:worse',
      '<details class="fold">',
      'first-audio:same',
    ];
    const found = places.map((text) => page.indexOf(text));
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(found.every((at) => at > 0)).toBe(true);
  });

  test('of dialects lists settings, which are neither better nor worse', () => {
    const changed = { id: 'token.jti', title: '', a: 'true', b: 'false', message: '' };
    const page = comparisonPage(
      comparison('changed', {
        kind: 'dialect',
        items: [
          { ...changed, change: 'changed' },
          { ...changed, change: 'unknown' },
        ],
        unchanged: 44,
      }),
    );
    expect(page).toMatch(
      /aria-label="Settings that differ"[\s\S]*<h2>1 other setting<[\s\S]*aria-label="Other settings"/,
    );
    expect(page).not.toMatch(/Verdicts|worse/i);
  });

  test.skipIf(!hasBrowser).each(pictures)(
    'is accessible, fits from 360 px on, and runs no script: %s',
    async (_name, given) => {
      const folder = mkdtempSync(join(tmpdir(), 'voicectl-compare-'));
      try {
        const path = join(folder, 'page.html');
        writeFileSync(path, comparisonPage(given));
        const page = await openTab();
        await page.goto(pathToFileURL(path).href);
        for (const width of [360, 2_560]) {
          await page.setViewportSize({ width, height: 800 });
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
        }
        expect(await page.evaluate('window.hacked')).toBeUndefined();
        // Our policy allows no script, so that axe is let in only here.
        writeFileSync(path, comparisonPage(given).replace(/<meta http-equiv[^>]*>/, ''));
        await page.goto(pathToFileURL(path).href);
        expect(await wrongWith(page)).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
