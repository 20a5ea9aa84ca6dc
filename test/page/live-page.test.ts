import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { wireFormat } from '../../src/audio/source.ts';
import { makeWavHeader } from '../../src/audio/wav/wav-header.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createPage } from '../../src/page/server/create-page.ts';
import { serveVerdicts } from '../../src/page/server/serve-verdicts.ts';
import { tokenPath } from '../../src/protocol/paths.ts';
import { wrongWith } from '../helpers/axe.ts';
import { hasBrowser, until } from '../helpers/browser.ts';
import { setUpTabs } from '../helpers/browser-tabs.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { token } from '../helpers/page-tab.ts';
import { framesOf, speech } from '../helpers/pcm.ts';
import { setUpProxies } from '../helpers/proxies.ts';
import { readCommand } from '../helpers/read-command.ts';
import { voicectlCalls } from '../helpers/shell-words.ts';
import { openStream } from '../helpers/stream-client.ts';

const startEmulator = setUpEmulators();
const startProxy = setUpProxies();

const facts = { baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', isDefault: false, curl: 'curl x' };
const hostile = `"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

const newTab = setUpTabs();

/** A tab of the browser. `troubles`: what it complains of, and requests to anybody but this address. */
async function openTab(url: string, width = 1280, kind?: 'apart') {
  const page = await newTab(kind);
  await page.bringToFront();
  page.setDefaultTimeout(20_000);
  await page.setViewportSize({ width, height: 1000 });
  const troubles: string[] = [];
  page.on('console', (entry) => {
    // Chromium remarks on this test, which reads what is drawn.
    if (!entry.text().includes('willReadFrequently')) troubles.push(entry.text());
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith(new URL(url).origin) && !/^(data|blob):/.test(asked)) troubles.push(asked);
  });
  return { page, troubles };
}

interface StartOptions {
  reply?: string;
  width?: number;
  tab?: 'apart';
}

/** An emulator and its page. */
async function start({ reply = 'silence', width = 1280, tab: kind }: StartOptions = {}) {
  const emulator = await startEmulator({ reply, page: createPage(() => facts, { token }) });
  const url = `${emulator.baseUrl}/__voicectl/#${token}`;
  const { page, troubles } = await openTab(url, width, kind);
  const open = async () => {
    await page.goto(url);
    await page.getByRole('heading', { name: 'Streams' }).waitFor();
  };
  /** The text of the newest event of the control API that contains this. */
  const told = (what: string) => emulator.event('control', (event) => event.what.includes(what));
  return { emulator, page, troubles, open, told };
}

/** Runs in the page: notes which buttons there ever are, and which of them are pressed. Those of a recording have their own tests. */
const noteButtons = `(() => {
  const seen = new Map();
  const pressed = new Set();
  window.buttons = { get seen() { return [...seen.keys()].sort(); }, get pressed() { return [...pressed].sort(); } };
  const nameOf = (button) => {
    if (button.closest('.opened') && button.id !== 'back') return undefined;
    if (button.dataset.kind) return 'tab ' + button.dataset.kind;
    if (button.classList.contains('stream')) return 'stream';
    const text = button.getAttribute('aria-label') ?? button.textContent;
    if (text.startsWith('Copy the command')) return 'copy';
    return button.id || (button.closest('form')?.ariaLabel ?? '') + ' ' + text.replace(/\\d+.*/, '');
  };
  const note = (into) => (button) => { const name = nameOf(button); if (name !== undefined) into(name); };
  const press = (event) => { const button = event.target.closest?.('button'); if (button) note((name) => pressed.add(name))(button); };
  addEventListener('click', press, true);
  const look = () => document.querySelectorAll('button').forEach(note((name) => seen.set(name, true)));
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
})();`;

const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();

describe.skipIf(!hasBrowser)('the page of the emulator, in a real browser', () => {
  test('every button does what it says, and the program accepts the command beside it', async () => {
    const { emulator, page, troubles, open, told } = await start();
    await page.addInitScript(
      `Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } })`,
    );
    await page.addInitScript(noteButtons);
    await open();
    const client = await emulator.connect('kitchen-1');
    const other = await emulator.connect('hall');
    await page.getByRole('button', { name: 'hall stream 2' }).click();
    await page.getByRole('heading', { name: 'hall stream 2' }).waitFor();
    await page.getByRole('button', { name: 'kitchen-1 stream 1' }).click();
    await page.getByRole('heading', { name: 'kitchen-1 stream 1' }).waitFor();
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.locator('#listen').click();
    await page.locator('#listen[aria-pressed=true]').click();
    await page.locator('#listen[aria-pressed=false]').waitFor();
    const commands = new Set<string>();
    const note = async () => {
      for (const text of await page.locator('.command code').allTextContents()) commands.add(text);
    };
    const sent = (text: string) =>
      client.until(() => client.messages.some((message) => JSON.stringify(message).includes(text)));

    await tab(page, 'Status');
    await page.getByRole('button', { name: 'speaking', exact: true }).click();
    await sent('"speaking"');
    await note();
    await page.getByRole('button', { name: 'listening', exact: true }).click();
    await sent('"listening"');
    expect(JSON.stringify(other.messages)).not.toContain('"listening"');
    await page.locator('#target').selectOption('all');
    await page.getByRole('button', { name: 'listening', exact: true }).click();
    await other.until(() => JSON.stringify(other.messages).includes('"listening"'));
    await note();
    await page.locator('#target').selectOption('stream');
    await tab(page, 'Error');
    await page.getByLabel('Code', { exact: true }).fill('QUOTA');
    await note();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await sent('"QUOTA"');
    await tab(page, 'JSON');
    await page.getByLabel('Message as JSON').fill(`{"it's":"on"}`);
    await note();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await sent(`{"it's":"on"}`);
    await page.getByLabel('Message as JSON').fill('{');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('The message is not valid JSON').waitFor();
    await tab(page, 'Event');
    await note();
    await page.getByRole('button', { name: 'Report' }).click();
    await told('event "door"');
    await tab(page, 'Speak');
    await page.locator('#speak-file').setInputFiles(join(import.meta.dirname, '../../fixtures/hello.wav'));
    await told('s of speech');
    await note();
    await client.until(() => client.audio.length > 0);
    const saidAloud = () =>
      emulator.events.filter((event) => event.type === 'control' && /speech/.test(event.what));
    const dropped = [...wavOf(speech(100))];
    await page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(${JSON.stringify(dropped)})], 'dropped.wav'));
      const how = { dataTransfer: data, bubbles: true, cancelable: true };
      const box = document.querySelector('.drop');
      for (const type of ['dragover', 'drop']) box.dispatchEvent(new DragEvent(type, how));
    })()`);
    await told('0.10 s of speech');
    await note();
    await page
      .getByRole('button', { name: /^Copy the command/ })
      .first()
      .click();
    expect(await page.evaluate('window.copied')).toBe(
      'voicectl emulator speak dropped.wav --on-stream 1 --base-url http://127.0.0.1:1',
    );
    const before = saidAloud().length;
    await page.locator('#talk').hover();
    await page.mouse.down();
    await page.getByRole('button', { name: 'Release to send' }).waitFor();
    await page.evaluate('window.heldAt = performance.now()');
    await until(page, 'performance.now() > window.heldAt + 500');
    // Wherever the button of the mouse is let go.
    await page.mouse.move(1, 1);
    await page.mouse.up();
    await page.getByText('Played what you said: stream 1').waitFor();
    await emulator.until(() => saidAloud().length > before);

    await page.locator('#advance').click();
    expect(await told('the clock was moved forward by 61 s')).toMatchObject({ byMs: 61_000 });
    await page.getByText('+61 s').waitFor();
    await page.locator('#fault-name').selectOption('close');
    await page.getByLabel('code', { exact: true }).fill('4001');
    await page.getByLabel('after', { exact: true }).fill('1h');
    await page.getByLabel('device', { exact: true }).fill('nobody');
    await note();
    await page.locator('#add-fault').click();
    await told('was added: close');
    expect(emulator.control.faults.list()[0]?.fault).toMatchObject({
      code: 4001,
      after: 3_600_000,
      device: 'nobody',
    });
    await page.getByRole('button', { name: /^End fault/ }).click();
    await told('1 fault was cleared');

    await page.locator('#record').click();
    await page.getByRole('button', { name: /^Stop, / }).click();
    await page.locator('#record[aria-pressed=false]').click();
    await page.getByRole('button', { name: 'Stop recording 2 of kitchen-1' }).click();
    await page.getByRole('button', { name: 'Open recording 2 of kitchen-1' }).click();
    await page.locator('#play').waitFor();
    expect(await page.locator('.opened h1').innerText()).toContain('stream 1 of the emulator');
    await page.locator('#back').click();
    for (const [button, file] of [
      [/as \.tar$/, /^voicectl-.*-stream-1\.tar$/],
      [/as \.html$/, /^recording-1\.html$/],
    ] as const) {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: button }).last().click();
      expect((await download).suggestedFilename()).toMatch(file);
    }
    await page.locator('#pause').click();
    emulator.control.send({}, { json: { type: 'unseen' } });
    await page.getByRole('button', { name: /^Continue \([1-9]/ }).waitFor();
    expect(await page.locator('.row', { hasText: 'unseen' }).count()).toBe(0);
    await page.getByRole('button', { name: /^Continue/ }).click();
    await page.locator('.row', { hasText: 'unseen' }).first().waitFor();
    await page.locator('.row').first().click();
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    expect(await page.evaluate('window.copied')).toContain('"type"');
    await page.locator('.detail').getByRole('button', { name: 'Close' }).click();
    await tab(page, 'Close');
    await page.getByLabel('Code', { exact: true }).fill('4000');
    await page.getByLabel('Reason', { exact: true }).fill(`it's over`);
    await note();
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    expect(await client.closed).toEqual({ code: 4000, reason: `it's over` });

    // The axis of a session that goes on grows while it is measured.
    await page.getByText('Ended after').waitFor();
    const axisPx = () => page.evaluate<number>(`document.querySelector('.timeline').scrollWidth`);
    const zoom = async (name: string, holds: string) => {
      await page.evaluate(`window.before = ${await axisPx()}`);
      await page.locator('.hint').getByRole('button', { name, exact: true }).click();
      await until(
        page,
        `((now, before) => ${holds})(document.querySelector('.timeline').scrollWidth, before)`,
      );
    };
    // So far that even a session of a second does not fit.
    for (let at = 0; at < 8; at += 1) await zoom('Zoom in', 'now >= before');
    await zoom('Zoom in', 'now > before * 1.4');
    await zoom('Zoom out', 'now < before / 1.4');
    await zoom('Fit', 'now < before / 1.4');
    await zoom('Zoom in', 'now > before');
    await page.evaluate(`document.querySelector('.timeline').scrollLeft = 0`);
    await page.locator('.hint').getByRole('button', { name: 'Now', exact: true }).click();
    await until(
      page,
      `(({ scrollLeft, clientWidth, scrollWidth }) => scrollLeft + clientWidth >= scrollWidth - 24)(document.querySelector('.timeline'))`,
    );

    await page.locator('#reset').click();
    await told('the emulator was reset');
    expect(troubles).toEqual([]);
    const { seen, pressed } = await page.evaluate<Record<string, string[]>>(
      '({ seen: [...window.buttons.seen], pressed: [...window.buttons.pressed] })',
    );
    expect(pressed).toEqual(seen);
    expect(seen!.length).toBeGreaterThan(25);

    expect(commands.size).toBeGreaterThan(9);
    for (const text of commands) {
      const [args = []] = voicectlCalls(text);
      expect(args[0], text).toBe('emulator');
      await readCommand(args);
    }
    expect([...commands].join('\n')).toContain('fault add close:after=1h,code=4001 --on-device nobody');
  }, 90_000);

  test('a hidden tab disconnects after a while, and what it missed is a gap when it is back', async () => {
    const { emulator, page, troubles, open } = await start({ tab: 'apart' });
    await page.clock.install();
    await open();
    const client = await emulator.connect('kitchen-1');
    await page.locator('.row', { hasText: 'authorised' }).waitFor();
    await client.send(speech(40));
    const hide = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    const left = page.waitForEvent('requestfailed', (request) => request.url().includes('page/live'));
    await hide(true);
    await page.clock.fastForward(10_000);
    await left;
    await page.getByText('asleep').waitFor();
    for (let at = 0; at < 2_010; at += 1) emulator.control.send({}, { json: { type: 'lights', at } });
    await hide(false);
    await page.locator('.link', { hasText: 'live' }).waitFor();
    await page.locator('#filter').fill('kind:gap');
    await page.locator('.row:only-child', { hasText: /missed 1\d events/ }).waitFor();
    await page.locator('#filter').fill('');
    // Somebody who looks back is left where they look.
    const top = () => page.evaluate<number>(`document.querySelector('.rows').scrollTop`);
    await until(page, `document.querySelector('.rows').scrollTop > 10000`);
    await page.evaluate(`document.querySelector('.rows').scrollTop = 4800`);
    await page.locator('.row', { hasText: '"at":210' }).waitFor();
    emulator.control.send({}, { json: { type: 'later' } });
    await page.locator('.events .count', { hasText: /^20/ }).waitFor();
    expect(await top()).toBe(4_800);
    await page.keyboard.press('Escape');
    await page.keyboard.press('End');
    await page.locator('.row', { hasText: 'later' }).first().waitFor();
    await until(page, `document.querySelector('.rows').scrollTop > 10000`);
    expect(troubles).toEqual([]);
  });

  test('an emulator that has stopped is called so until it is back', async () => {
    const { emulator, page, open } = await start();
    await open();
    await page.locator('.link', { hasText: 'live' }).waitFor();
    const tried = () => page.waitForEvent('requestfailed', (request) => request.url().includes('/page/live'));
    const twice = tried().then(tried);
    await emulator.close();
    await twice;
    expect(await page.locator('.link').innerText()).toContain('the emulator has stopped');
    await page.locator('#advance').click();
    await page.locator('.notice.bad[data-shown=true]').waitFor();
    expect(await page.locator('.notice').innerText()).toBe('voicectl does not answer');
  });

  test('both voices are drawn live, and listening plays the service', async () => {
    const { emulator, page, troubles, open } = await start({ reply: 'echo' });
    await page.addInitScript(`
      window.played = [];
      const start = AudioBufferSourceNode.prototype.start;
      AudioBufferSourceNode.prototype.start = function (...when) {
        window.played.push(...this.buffer.getChannelData(0));
        return start.apply(this, when);
      };`);
    await open();
    const client = await emulator.connect('kitchen-1');
    await Promise.all([page.waitForResponse(/page\/listen/), page.locator('#listen').click()]);
    const said = speech(600);
    for (const frame of framesOf(said)) await client.send(frame);
    await client.until(() => client.audio.length >= said.length);
    // Both voices say the same here: the device, and the service that echoes it.
    await until(page, `window.played.length >= ${said.length}`);
    const played = await page.evaluate<number[]>('played.map((sample) => Math.round(sample * 0x8000))');
    const wanted = Array.from({ length: said.length / 2 }, (_, at) => said.readInt16LE(at * 2));
    expect(played.toSorted((a, b) => a - b)).toEqual([...wanted, ...wanted].toSorted((a, b) => a - b));
    await until(
      page,
      `(() => {
      const canvas = document.querySelector('.timeline canvas');
      const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return ['--you', '--ai'].every((name) => {
        const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
        const [r, g, b] = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
        const wanted = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
        return pixels.filter((pixel) => pixel === wanted).length > 300;
      });
    })()`,
    );
    expect(troubles).toEqual([]);
  });

  test('a recording that was stopped can be started again at once', async () => {
    const { emulator, page, troubles, open } = await start();
    await open();
    await emulator.connect('kitchen-1');
    // What the button says when the page has told what was done.
    const press = (told: string) =>
      page.evaluate(`new Promise((resolve) => {
        const button = document.querySelector('#record');
        new MutationObserver((_, observer) => {
          if (!document.querySelector('.notice').textContent.startsWith('${told}')) return;
          observer.disconnect();
          resolve(button.textContent.trim());
        }).observe(document.body, { subtree: true, childList: true, characterData: true });
        button.click();
      })`);
    await page.locator('#record').waitFor();
    expect(await press('Recording stream 1')).toContain('Stop');
    expect(await press('Recorded')).toContain('Record');
    expect(await press('Recording stream 1')).toContain('Stop');
    expect(troubles).toEqual([]);
  });

  test('text of devices and services stays text', async () => {
    const { emulator, page, troubles, open } = await start();
    await open();
    const client = await emulator.connect(hostile);
    emulator.control.send({}, { json: { type: hostile, [hostile]: hostile } });
    emulator.control.send({}, { error: { code: hostile, message: hostile } });
    emulator.control.send({}, { json: { type: 'transcript', role: 'assistant', text: hostile } });
    expect(await page.getByRole('list', { name: 'Transcript' }).innerText()).toContain(`AI ${hostile}`);
    client.socket.close(4000, hostile);
    await page
      .getByText('close 4000')
      .or(page.locator('.row', { hasText: '4000' }))
      .first()
      .waitFor();
    await page.locator('.row', { hasText: 'onerror' }).first().click();
    expect(await page.locator('.detail pre').innerText()).toContain('<img src=x');
    expect(await page.locator('.streams').innerText()).toContain('<img src=x');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  test('a direction that a device puts into its name turns nothing around, in any panel', async () => {
    const { emulator, page, open } = await start();
    await open();
    const name = 'lamp\u202eneddih';
    await emulator.connect(name);
    emulator.control.send({}, { json: { type: 'transcript', role: 'assistant', text: `so \u202edias` } });
    await page.locator('#record').click();
    await page.getByRole('button', { name: 'Stop recording 1 of' }).waitFor();
    const texts = await page.locator('main').innerText();
    expect(texts).not.toContain('\u202e');
    expect(texts.split('lamp\\u202eneddih').length).toBeGreaterThan(5);
    expect(texts).toContain('so \\u202edias');
  });

  test('the keys of the screens work, and a filter hides the rest', async () => {
    const { emulator, page, open, told } = await start();
    await open();
    const client = await emulator.connect('hall');
    await page.locator('.row', { hasText: 'authorised' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect(await page.getByRole('dialog').innerText()).toMatch(/enter\s+show the marked event as JSON/);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    // In the frames in which the dialog closes, a key sometimes opens nothing; nobody is that quick.
    await page.evaluate(`new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told)))`);
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    // Until the next frame the focus stays in the dialog that was closed.
    const focused = await page.evaluate(`(() => {
      const button = document.activeElement;
      document.querySelector('dialog').close();
      button.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));
      return document.activeElement.id;
    })()`);
    expect(focused).toBe('filter');
    await page.keyboard.type('kind:authorised');
    await until(page, `document.querySelectorAll('.row').length === 1`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.locator('.row', { hasText: 'opened' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(await page.locator('.detail pre').innerText()).toContain('"type"');
    await page.keyboard.press('Escape');
    await page.keyboard.press('+');
    await told('the clock was moved forward by 61 s');
    const question = page.waitForEvent('dialog');
    const pressed = page.keyboard.press('x');
    const asked = await question;
    expect(asked.message()).toBe('Close stream 1 of hall with code 1012?');
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    await asked.accept();
    await pressed;
    expect((await client.closed).code).toBe(1012);
  });

  test('each panel has a readable title, and axe finds no problems', async () => {
    const { emulator, page, open } = await start({ width: 1280 });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await open();
    await page.getByRole('heading', { name: 'Faults' }).waitFor();
    const titles = await page.locator('.panel h2').allTextContents();
    expect(titles.map((title) => title.replace(/ *\d+$/, ''))).toEqual([
      ...['Streams', 'No device is connected', 'Events', 'Devices', 'Clock', 'Faults', 'Recordings'],
    ]);
    const text = await page.locator('body').innerText();
    expect(text.match(/\b[A-Z][a-z]+[A-Z][a-z]+\w*/g) ?? []).toEqual([]);
    await emulator.connect('kitchen-1');
    emulator.control.faults.add({ name: 'drop' });
    await page.getByRole('heading', { name: 'kitchen-1 stream 1' }).waitFor();
    await page.locator('#record').click();
    await page.getByRole('button', { name: /^Stop, / }).click();
    await page.getByRole('button', { name: /^Open recording/ }).waitFor();
    await page.locator('.row', { hasText: 'authorised' }).click();
    await page.getByRole('button', { name: /^End fault/ }).waitFor();
    expect(await wrongWith(page)).toEqual([]);
    await page.setViewportSize({ width: 400, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect(await wrongWith(page, 'dialog')).toEqual([]);
  });

  test('without the token of this start the page only shows where to find it', async () => {
    const { emulator, page } = await start();
    for (const [fragment, heading] of [
      ['', 'The voicectl page'],
      ['#wrong', 'voicectl was restarted'],
    ] as const) {
      await page.goto('about:blank');
      await page.goto(`${emulator.baseUrl}/__voicectl/${fragment}`);
      await page.getByRole('heading', { name: heading }).waitFor();
    }
    await page.getByLabel('That address').fill(`${emulator.baseUrl}/__voicectl/#${token}`);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Streams' }).waitFor();
    await page.waitForURL((url) => url.hash === '');
  });

  test('the page of a recording has no problems either, at any width', async () => {
    const { emulator, page, open, troubles } = await start({ reply: 'echo' });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await open();
    const client = await emulator.connect('kitchen-1');
    await page.locator('#record').click();
    await page.getByRole('button', { name: /^Stop, / }).waitFor();
    for (const frame of framesOf(speech(300))) await client.send(frame);
    emulator.control.send({}, { json: { type: 'transcript', role: 'user', text: hostile } });
    await client.until(() => client.audio.length > 0);
    client.socket.close(4000, hostile);
    await page.getByRole('button', { name: /^Open recording/ }).click();
    await page.locator('#play').waitFor();
    expect(await page.locator('#transcript').innerText()).toContain(`you\t${hostile}`);
    expect(await wrongWith(page)).toEqual([]);
    for (const width of [400, 2_560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    }
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(troubles).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)('the page of a proxy, in a real browser', () => {
  test('has both sides, the judgements of each, and recordings', async () => {
    const emulator = await startEmulator({ reply: 'echo' });
    const target = { baseUrl: emulator.baseUrl, wsUrl: emulator.wsUrl };
    const proxy = await startProxy(target, {
      page: createPage(() => ({ ...facts, target }), { token }),
    });
    const url = `${proxy.baseUrl}/__voicectl/#${token}`;
    const { page, troubles } = await openTab(url);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(url);
    await page.getByText(`proxy to ${emulator.baseUrl}`).waitFor();
    expect(await page.locator('#advance').count()).toBe(0);
    const { token: granted } = (await (
      await fetch(`${proxy.baseUrl}${tokenPath()}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ apiKey: 'k', deviceId: hostile }),
      })
    ).json()) as { token: string };
    const client = openStream(proxy.wsUrl);
    await client.opened;
    await client.send(granted);
    // A device may not speak before the confirmation.
    await client.send(speech(20));
    await client.connected;
    await page.getByRole('heading', { name: /stream 1$/ }).waitFor();
    await page.locator('#record').click();
    await page.getByRole('button', { name: /^Stop, / }).waitFor();
    for (const frame of framesOf(speech(300))) await client.send(frame);
    await client.until(() => client.audio.length > 640);
    expect(await page.getByRole('list', { name: 'What is wrong' }).innerText()).toMatch(/device .* D4/);
    expect(await page.locator('.row', { hasText: 'device breaks D4' }).count()).toBe(1);
    expect(await wrongWith(page)).toEqual([]);
    await tab(page, 'Close');
    await page.getByLabel('Code', { exact: true }).fill('4000');
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    expect((await client.closed).code).toBe(4000);
    await page.getByRole('button', { name: /^Open recording/ }).click();
    await page.locator('#play').waitFor();
    expect(await page.locator('.opened h1').innerText()).toContain('stream 1 of the proxy');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(troubles).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)('the page of verdicts, in a real browser', () => {
  test('fills up, filters, opens what was seen, and stays after the end', async () => {
    const served = await serveVerdicts({
      ...{ command: 'check', subject: hostile, version: '1', clock: systemClock },
    });
    const { page, troubles } = await openTab(served.url);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(served.url);
    const items = Array.from({ length: 44 }, (_, at) => ({ id: `R${at + 1}`, title: `rule ${at + 1}` }));
    served.show({ type: 'planned', what: 'rules', items });
    served.show({ type: 'used', amounts: [{ name: 'requests', used: 3, of: 70 }] });
    served.show({ type: 'doing', text: 'waiting', forMs: 30_000 });
    for (const [index, { id, title }] of items.entries()) {
      const verdict = index === 3 ? 'fail' : 'pass';
      const item = { id, title, verdict, message: hostile, isFinal: true } as const;
      served.show({ type: 'judged', item, lines: [hostile, 'curl'], body: { id, hostile } });
    }
    await page.getByText('44/44 rules judged').waitFor();
    await page.getByText('3/70 requests').waitFor();
    expect(await page.locator('.doing').innerText()).toMatch(/^waiting \d+ s$/);
    await page.getByRole('button', { name: '1 fail' }).click();
    await until(page, `document.querySelectorAll('.verdict-row').length === 1`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('R44');
    await until(page, `document.querySelectorAll('.verdict-row').length === 1`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    expect(await page.locator('.detail pre').innerText()).toContain('<img src=x');
    served.show({ type: 'ended', ok: false, text: 'done, failed' });
    await served.close(true, new AbortController().signal);
    await page.locator('.link', { hasText: 'done, failed' }).waitFor();
    expect(await wrongWith(page)).toEqual([]);
    await page.setViewportSize({ width: 400, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(troubles).toEqual([]);
  });
});

/** 16 kHz s16le mono as a WAV. */
function wavOf(pcm: Buffer): Buffer {
  return Buffer.concat([makeWavHeader(wireFormat, pcm.length), pcm]);
}
