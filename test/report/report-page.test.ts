import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { wrongWith } from '../helpers/axe.ts';
import { hasBrowser } from '../helpers/browser.ts';
import { setUpTabs } from '../helpers/browser-tabs.ts';
import { hastyClock } from '../helpers/hasten.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { fixture, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const newTab = setUpTabs();
const hello = ['--file', fixture('hello.wav')];
const quick = ['--local', '--reply', 'echo', '--pace', 'max', '--tail', '0', '--settle', '200ms'];
const widths = [360, 400, 1280, 2560];

/** A report that a command wrote. */
async function open(name: string): Promise<Page> {
  const page = await newTab();
  await page.goto(pathToFileURL(sandbox.path(name)).href);
  return page;
}

/** What a page needs more than it has, at each width. */
async function overflows(page: Page): Promise<number[]> {
  const wide: number[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    // Also what is folded.
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    const needed = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (needed > width) wide.push(width);
  }
  return wide;
}

/** Words that a page breaks within, at 400 px and with everything open. */
async function brokenWords(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 400, height: 900 });
  return page.evaluate<string[]>(`(() => {
    const broken = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const { 0: word, index } of texts.currentNode.data.matchAll(/\\p{L}{2,20}/gu)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
      }
    }
    return broken;
  })()`);
}

/** What stands first, what stands open, and what is folded, before anybody has clicked. */
const read = (page: Page) =>
  page.evaluate<{ word: string; top: number; open: string[]; folded: string[] }>(`(() => {
    const kinds = (where) => [...document.querySelectorAll(where + ' .kind')].map((one) => one.textContent);
    const word = document.querySelector('.verdict .word');
    return {
      word: word.textContent,
      top: word.getBoundingClientRect().top,
      open: kinds('main > .item'),
      folded: kinds('main > details:not([open]) .item'),
    };
  })()`);

/** A device that leaves out all fields of a token request. */
const asksWrongly = `fetch(process.env.VOICECTL_BASE_URL + '/api/websocket-voice/token', { method: 'POST', body: '{}' })`;

type Run = (args: readonly string[]) => Promise<unknown>;
const env = { VOICECTL_API_KEY: 'check-key' };
/** In this process, on the clock of the service. */
const hastened: Run = (args) => sandbox.runHere(args, { env, clock: hastyClock });
const here: Run = (args) => sandbox.runHere(args, { env });
/** It starts a device. */
const asProcess: Run = (args) => sandbox.run(args, { env });

const rules = (...ids: string[]) => ids.flatMap((id) => ['--rule', id]);
/** Here some pass, R24 and R30 fail, R31 stays unknown, R32 is skipped and R45 is observed. */
const eachVerdict = ['R4', 'R15', 'R24', 'R30', 'R31', 'R32', 'R37', 'R45'];

const commands: [name: string, run: Run, args: (url: string) => string[], word: string][] = [
  ['check', hastened, (url) => ['check', '--base-url', url, '--wait', '1s', ...rules(...eachVerdict)], 'No'],
  [
    'stream',
    here,
    () => ['stream', ...hello, ...quick, '--expect-audio', '--expect-event', 'transcript'],
    'Failed',
  ],
  [
    'stream --repeat',
    here,
    () => ['stream', ...hello, ...quick, '--repeat', '2', '--expect-event', 'x'],
    'Failed',
  ],
  [
    'drill',
    asProcess,
    () => ['drill', '--situation', 'D1', '--situation', 'D2', '--', process.execPath, '-e', asksWrongly],
    'No',
  ],
  [
    'load',
    here,
    (url) => [
      ...['load', '--base-url', url, '--sessions', '3', '--arrival', 'burst:3', '--task', 'tokens'],
      ...['--threshold', 'token:p95<0.001ms', '--threshold', 'failed<100%', '--processes', 'none'],
    ],
    'Failed',
  ],
];

describe.skipIf(!hasBrowser)('the report in HTML', () => {
  test.each(commands)(
    'of %s starts with its verdict, shows what failed and folds the rest, at every width and in both colour schemes',
    async (_name, run, argsOf, word) => {
      await using service = await startMiniService({ limit: 100, statedLimit: 100 });
      const [command = '', ...args] = argsOf(service.baseUrl);
      await run([command, '--html', 'page.html', ...args]);
      const page = await open('page.html');
      await page.setViewportSize({ width: 400, height: 900 });
      const { top, open: shown, folded, ...seen } = await read(page);
      // A run that this machine was too busy for says so in its place.
      expect([word, 'Not valid']).toContain(seen.word);
      expect(top).toBeLessThan(120);
      expect(shown[0]).toMatch(/^(fail|not valid)$/);
      expect(shown.filter((kind) => kind === 'pass')).toEqual([]);
      expect(folded.filter((kind) => kind === 'fail')).toEqual([]);
      expect(await overflows(page)).toEqual([]);
      expect(await brokenWords(page)).toEqual([]);
      expect(await wrongWith(page)).toEqual([]);
    },
    60_000,
  );

  test('of check names the exchanges of a rule like its lines do: a series by its first and last', async () => {
    await sandbox.runHere(['check', '--local', ...rules('R23', 'R27', 'R30'), '--html', 'page.html']);
    const page = await open('page.html');
    const [names = ''] = await page.locator('#R23 details summary').allTextContents();
    expect(names).toMatch(/^E1 E2 E3 X-1…X-60/);
  });

  test('of inspect shows the expectation that failed before the voices, and folds the one that passed', async () => {
    const flags = ['--expect-audio', '--expect-event', 'transcript', '--record', 'rec'];
    await sandbox.runHere(['stream', ...hello, ...quick, ...flags]);
    await sandbox.runHere(['inspect', 'rec', '--html', 'page.html']);
    const page = await open('page.html');
    await page.getByRole('heading', { name: 'Expectations that failed' }).waitFor();
    expect(await page.locator('h1').textContent()).toContain('failed');
    expect(await page.locator('details.passed summary').textContent()).toBe('1 expectation passed');
    expect(await overflows(page)).toEqual([]);
    expect(await wrongWith(page)).toEqual([]);
  });
});
