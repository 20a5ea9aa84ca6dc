import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

/** Makes the picture of the page in the README: the real emulator, three devices, and a real browser. Part of `npm run screens`. */
const root = join(import.meta.dirname, '..');
/** @type {import('node:child_process').ChildProcess[]} */
const children = [];

try {
  const url = await startEmulator();
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme: 'dark' });
  await page.goto(url);
  const { origin } = new URL(url);
  run('emulator', 'fault', 'add', 'drop', '--probability', '0.05', '--base-url', origin);
  for (const device of ['kitchen-1', 'hall', 'workshop']) {
    // The workshop's clock is wrong: it sends far too fast.
    const pace = device === 'workshop' ? '1.6' : 'realtime';
    const file = ['--file', 'fixtures/two-turns.wav', '--loop', '--pace', pace, '--quiet'];
    run('stream', ...file, '--device', device, '--base-url', origin);
    await page.getByRole('button', { name: device }).waitFor();
  }
  await page.getByRole('button', { name: 'kitchen-1' }).click();
  await page.locator('.stream', { hasText: '0:26' }).first().waitFor({ timeout: 60_000 });
  await page.screenshot({ path: join(import.meta.dirname, 'page.png') });
  await browser.close();
} finally {
  for (const child of children) child.kill();
}

/** @param {string[]} args */
function run(...args) {
  const child = spawn(process.execPath, ['bin/voicectl.js', ...args], { cwd: root });
  children.push(child);
  return child;
}

/**
 * Resolves with the address of the page, which `serve` prints.
 * @returns {Promise<string>}
 */
function startEmulator() {
  return new Promise((resolve, reject) => {
    let printed = '';
    const serve = run('serve', '--port', '0');
    serve.on('exit', () => reject(new Error('serve has ended')));
    serve.stdout.on('data', (text) => {
      printed += text;
      const url = /^ {2}page +(\S+)$/m.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
