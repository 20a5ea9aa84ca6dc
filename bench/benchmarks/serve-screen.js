import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLoad } from '../measure/load.js';
import { program } from '../measure/subject.js';
import { runInTerminal, whyNoTerminal } from '../measure/terminal.js';

const sessions = 20;
const seconds = 20;
/** Each text is an event of its arrival, and one of the answer to it: 1,000 events a second of all sessions. */
const textEveryMs = (2 * sessions * 1000) / 1000;
const startLimitMs = 15_000;
const tickMs = 10;

/**
 * What `serve` uses of a core, in percent, while 20 devices talk and 1,000 events a second happen.
 *
 * @param {readonly string[]} output
 */
async function shareOfCore(output) {
  const why = whyNoTerminal();
  if (why !== undefined) return { skipped: why };
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-bench-'));
  const readyFile = join(folder, 'ready.json');
  const args = ['serve', '--port', '0', '--ready-file', readyFile, ...output];
  const running = runInTerminal([process.execPath, program, ...args]);
  try {
    const { port, pid } = await readWhenThere(readyFile);
    const load = startLoad({ port, needsToken: true });
    try {
      await load.open(sessions);
      let before = { cpuMs: 0, rssMb: 0, at: 0 };
      await load.run('talk', { warmMs: 3_000, ms: seconds * 1000, textEveryMs }, () => {
        before = usageOf(pid);
      });
      const after = usageOf(pid);
      return {
        value: (100 * (after.cpuMs - before.cpuMs)) / (after.at - before.at),
        details: { 'resident MB at first': before.rssMb, 'resident MB at last': after.rssMb },
      };
    } finally {
      load.stop();
    }
  } finally {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} file
 * @returns {Promise<{ port: number, pid: number }>}
 */
async function readWhenThere(file) {
  for (const end = performance.now() + startLimitMs; performance.now() < end; ) {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error(`voicectl serve did not start within ${startLimitMs / 1000} s`);
}

/** Processor time of all threads, and memory. @param {number} pid */
function usageOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [, user, system] = /\) \S(?: \S+){10} (\d+) (\d+)/.exec(stat) ?? [];
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return {
    cpuMs: (Number(user) + Number(system)) * tickMs,
    rssMb: Number(resident) / 1024,
    at: performance.now(),
  };
}

/** @type {import('../measure/turns.js').Benchmark} */
export const serveScreen = {
  name: 'serve-screen',
  figure: 'the screen of `serve`, 20 sessions and 1,000 events a second',
  unit: '% of a core',
  turns: 2,
  goal: { of: 'value', atMost: 25, text: '≤ 25 %' },
  floorName: '`serve --quiet`',
  program: () => shareOfCore(['--output', 'tui']),
  async floor() {
    const measured = await shareOfCore(['--output', 'plain', '--quiet']);
    if ('skipped' in measured) throw new Error(measured.skipped);
    return measured;
  },
};
