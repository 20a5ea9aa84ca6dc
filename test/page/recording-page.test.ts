import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { recordingPage } from '../../src/page/server/recording-page.ts';
import type { BundleWriter } from '../../src/recording/bundle-writer.ts';
import { recordingHar } from '../../src/recording/har.ts';
import { readTimeline } from '../../src/recording/timeline.ts';
import { wrongWith } from '../helpers/axe.ts';
import { hasBrowser, until } from '../helpers/browser.ts';
import { setUpTabs } from '../helpers/browser-tabs.ts';
import { message, setUpBundles } from '../helpers/bundles.ts';
import { framesOf, silence, speech } from '../helpers/pcm.ts';

const bundles = setUpBundles();

const openTab = setUpTabs();

const hostile = `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">'"\u202e\u001b[31m`;

function converse(writer: BundleWriter): void {
  const say = (direction: 'out' | 'in', t: number, pcm: Buffer) => {
    for (const [index, frame] of framesOf(pcm).entries()) writer.audio(direction, t + index * 20, frame);
  };
  writer.event({ t: 0, type: 'state', state: 'token' });
  message(writer, 100, 'connected', { type: 'service_voice_connected' });
  writer.event({ t: 100, type: 'state', state: 'live' });
  say('out', 100, Buffer.concat([silence(200), speech(1_000), silence(2_700)]));
  say('in', 2_000, speech(600));
  say('in', 2_800, speech(600));
  message(writer, 3_500, 'error', { type: 'error', error: { code: 'E', message: hostile } });
  writer.event({ t: 4_000, type: 'close', code: 1000, reason: '', name: 'normal' });
}

async function makePage(fill = converse) {
  const recording = await bundles.write(fill, { endMs: 4_000 });
  const path = join(dirname(recording.folder), 'page.html');
  writeFileSync(path, await recordingPage(recording, readTimeline(recording)));
  return { recording, url: pathToFileURL(path).href };
}

/** Opens the page; `troubles` is whatever a browser complains of, and what it asks of anyone. */
async function open(url: string) {
  const page = await openTab();
  const troubles: string[] = [];
  page.on('console', (entry) => {
    // Chromium remarks on this test, which reads what is drawn.
    if (!entry.text().includes('willReadFrequently')) troubles.push(entry.text());
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== url && !/^(data|blob):/.test(request.url())) troubles.push(request.url());
  });
  await page.goto(url);
  // The playhead is put in its place by the first drawing.
  await until(
    page,
    `document.getElementById('playhead')?.style.transform && document.querySelector('canvas').width > 300`,
  );
  return { page, troubles };
}

/** How many pixels of the picture have the colour of each variable. */
function countPixels(page: Page, names: readonly string[]): Promise<number[]> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const pixels = new Uint32Array(data.buffer);
    return ${JSON.stringify(names)}.map((name) => {
      const hex = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim().slice(1);
      const [r, g, b] = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
      const wanted = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
      return pixels.reduce((count, pixel) => count + (pixel === wanted ? 1 : 0), 0);
    });
  })()`);
}

const positionMs = async (page: Page) =>
  Number(await page.locator('#timeline').getAttribute('aria-valuenow'));

describe.skipIf(!hasBrowser)('the page of a recording, in a real browser', () => {
  test('shows both voices, in light and in dark, without any network request', async () => {
    const { url } = await makePage();
    const { page, troubles } = await open(url);
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    for (const [colorScheme, colour] of [
      ['light', 'rgb(246, 246, 243)'],
      ['dark', 'rgb(16, 18, 21)'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await background()).toBe(colour);
      await expect.poll(async () => (await countPixels(page, ['you']))[0]).toBeGreaterThan(5_000);
      const [ai = 0, gap = 0] = await countPixels(page, ['ai', 'bad']);
      expect(ai).toBeGreaterThan(5_000);
      expect(gap).toBeGreaterThan(50);
    }
    expect(await wrongWith(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test('plays, pauses and moves by keyboard alone', async () => {
    const { url } = await makePage();
    const { page, troubles } = await open(url);
    const play = page.locator('#play');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('play');
    await page.keyboard.press('Space');
    await until(page, `Number(document.getElementById('timeline').ariaValueNow) > 100`);
    expect(await play.textContent()).toContain('Pause');
    await page.keyboard.press('Space');
    await until(page, `document.getElementById('play').textContent.includes('Play')`);

    await page.keyboard.press('Home');
    expect(await positionMs(page)).toBe(0);
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    expect(await positionMs(page)).toBe(3_500);
    await page.keyboard.press('ArrowLeft');
    expect(await positionMs(page)).toBe(3_000);
    const turn = page.locator('table button.seek').first();
    await turn.focus();
    await page.keyboard.press('Enter');
    expect(await positionMs(page)).toBe(300);
    expect(await page.locator('#timeline').getAttribute('aria-valuetext')).toContain('you speak');
    expect(troubles).toEqual([]);
  });

  test('zooms in and out, and plays one voice alone', async () => {
    const { url } = await makePage();
    const { page, troubles } = await open(url);
    const extent = () => page.evaluate<number>(`document.getElementById('extent').clientWidth`);
    const fit = await extent();
    await page.locator('#zoom-in').click();
    expect(await extent()).toBeGreaterThan(fit);
    await page.locator('#zoom-in').click();
    await page.locator('#zoom-out').click();
    await page.locator('#zoom-out').click();
    // In whole pixels.
    expect(Math.abs((await extent()) - fit)).toBeLessThanOrEqual(1);
    await page.locator('#zoom-in').click();
    await page.locator('#zoom-fit').click();
    expect(await extent()).toBe(fit);
    await page.locator('input[value=in]').check();
    await page.locator('#play').click();
    await until(page, `Number(document.getElementById('timeline').ariaValueNow) > 100`);
    expect(troubles).toEqual([]);
  });

  test('shows what a hostile service sent, without running it', async () => {
    const { url } = await makePage((writer) => {
      converse(writer);
      message(writer, 3_600, hostile, { type: hostile, [hostile]: hostile });
      writer.event({ t: 3_700, type: 'warning', code: hostile, message: hostile });
      writer.event({ t: 3_800, type: 'close', code: 1000, reason: hostile, name: hostile });
    });
    const { page, troubles } = await open(url);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(4);
    const shown = await page.locator('#events').innerText();
    expect(shown).toContain('<img src=x onerror=');
    expect(shown).toContain('\\u202e\\u001b');
    expect(troubles).toEqual([]);
  });

  test('opens for an empty recording', async () => {
    const { url } = await makePage(() => {});
    const { troubles } = await open(url);
    expect(troubles).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)('the HAR of a recording', () => {
  test('can be used by a browser driver to answer the token request', async () => {
    const { recording } = await makePage((writer) => {
      writer.wire({
        t: 0,
        type: 'token-request',
        url: 'http://voice.test/api/websocket-voice/token',
        device: 'd1',
        status: 429,
        headers: {
          'content-type': 'application/json',
          'access-control-allow-origin': '*',
          'retry-after': '7',
        },
        attempts: 1,
        firstByteMs: 3,
        totalMs: 5,
      });
      converse(writer);
    });
    const har = join(dirname(recording.folder), 'session.har');
    writeFileSync(har, JSON.stringify(recordingHar(recording)));
    const page = await openTab();
    await page.routeFromHAR(har);
    await page.goto('about:blank');
    const answer = await page.evaluate(`fetch('http://voice.test/api/websocket-voice/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiKey: '[redacted]', deviceId: 'd1' }),
    }).then((response) => response.status)`);
    expect(answer).toBe(429);
  });
});
