import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { startLoad } from '../measure/load.js';
import { program } from '../measure/subject.js';

const sessions = 20;
const seconds = 15;
/** Each message goes to all sessions, and is an event of each: 1,000 events a second. */
const messageEveryMs = sessions;
const settleMs = 4_000;
const tickMs = 10;
const executablePath = '/usr/bin/chromium';
/** There is no graphics card where this runs: what is painted costs processor time. */
const flags = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'];

/** Runs in the page: keeps how long each task of more than 50 ms took. */
const noteLongTasks = `window.longTasks = [];
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.longTasks.push(duration);
}).observe({ type: 'longtask' });`;

/** Runs in the page. What a locator runs there to wait is a long task of its own. */
const untilThereAreRows = `new Promise((resolve) => {
  const look = () => (document.querySelector('.row') ? resolve() : setTimeout(look, 20));
  look();
})`;

/** @type {import('../measure/turns.js').Benchmark} */
export const servePage = {
  name: 'serve-page',
  figure: 'longest task of the page, 20 sessions and 1,000 events a second',
  unit: 'ms',
  turns: 2,
  goal: { of: 'value', atMost: 50, text: '≤ 50 ms' },
  async program() {
    if (!existsSync(executablePath)) return { skipped: `there is no ${executablePath}` };
    const serve = spawn(process.execPath, [program, 'serve', '--port', '0']);
    const url = await pageOf(serve);
    const port = Number(new URL(url).port);
    const load = startLoad({ port, needsToken: true });
    // All benchmarks are loaded for each: this takes longer than all the others.
    const { chromium } = await import('playwright-core');
    const browser = await chromium.launch({ executablePath, args: flags });
    const messages = sendMessages(port);
    try {
      await load.open(sessions);
      const talking = load.run('talk', { warmMs: 0, ms: 4 * seconds * 1000 });
      talking.catch(() => {});
      await pause(settleMs);
      const alone = await shareOfCore(serve.pid);
      const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
      await page.addInitScript(noteLongTasks);
      await page.goto(url);
      await page.evaluate(untilThereAreRows);
      await pause(settleMs);
      const [opening, watched, longest] = [
        await page.evaluate('Math.max(0, ...window.longTasks.splice(0))'),
        await shareOfCore(serve.pid),
        await page.evaluate('Math.max(0, ...window.longTasks)'),
      ];
      return {
        value: Number(longest),
        details: {
          'longest task while it opens, ms': Number(opening),
          elements: Number(await page.evaluate('document.querySelectorAll("*").length')),
          'serve alone, % of a core': alone,
          'serve with the page, %': watched,
        },
      };
    } finally {
      clearInterval(messages);
      await browser.close();
      load.stop();
      serve.kill();
    }
  },
};

/**
 * Resolves with the address of the page, which `serve` prints.
 *
 * @param {import('node:child_process').ChildProcessWithoutNullStreams} serve
 * @returns {Promise<string>}
 */
function pageOf(serve) {
  return new Promise((resolve, reject) => {
    serve.once('exit', () => reject(new Error('serve has ended')));
    let printed = '';
    serve.stdout.on('data', (text) => {
      if (printed.length < 10_000) printed += text;
      const url = /^ {2}page +(\S+)$/m.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

/** Sends messages over the control API, evenly. @param {number} port */
function sendMessages(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const headers = { 'Content-Type': 'application/json' };
  const options = { agent, host: '127.0.0.1', port, method: 'POST', path: '/__voicectl/messages', headers };
  const begun = performance.now();
  let sent = 0;
  return setInterval(() => {
    for (; sent < (performance.now() - begun) / messageEveryMs; sent += 1) {
      const asked = request(options, (answer) => answer.resume());
      asked.on('error', () => {});
      asked.end(JSON.stringify({ json: { type: 'lights', at: sent } }));
    }
  }, messageEveryMs / 4);
}

/** Processor time of all threads for a while, in percent of a core. @param {number | undefined} pid */
async function shareOfCore(pid) {
  const used = () => {
    const [, user, system] =
      /\) \S(?: \S+){10} (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return { cpuMs: (Number(user) + Number(system)) * tickMs, at: performance.now() };
  };
  const before = used();
  await pause(seconds * 1000);
  const after = used();
  return (100 * (after.cpuMs - before.cpuMs)) / (after.at - before.at);
}

/** @param {number} ms @returns {Promise<void>} */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
