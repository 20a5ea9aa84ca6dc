import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { frameMs, speechLike } from '../load/audio.js';
import { wavOf } from '../load/wav.js';
import { quantile } from '../measure/statistics.js';
import { forkToEnd, program, startService } from '../measure/subject.js';
import { runInTerminal, whyNoTerminal } from '../measure/terminal.js';

/** Ink hides the cursor before its first frame; a build without a terminal interface does not. */
const hidesCursor = '\u001b[?25l';
const noInterface = { skipped: 'this build has no terminal interface' };

/** Milliseconds from the start of a process to the first text that it shows in a terminal. */
async function firstFrame() {
  const why = whyNoTerminal();
  if (why !== undefined) return { skipped: why };
  const start = performance.now();
  let value = 0;
  /** @type {(value?: unknown) => void} */
  let seen = () => {};
  const shown = new Promise((resolve) => {
    seen = resolve;
  });
  const running = runInTerminal([process.execPath, program, 'serve', '--port', '0', '--output', 'tui'], {
    onText(text) {
      if (text === '' || value > 0) return;
      value = performance.now() - start;
      seen();
    },
  });
  await Promise.race([shown, running.ended]);
  await running.stop();
  const output = await running.ended;
  return value > 0 && output.includes(hidesCursor) ? { value } : noInterface;
}

/** @type {import('../measure/turns.js').Benchmark} */
export const firstTuiFrame = {
  name: 'first-frame',
  figure: 'first frame of the terminal interface',
  unit: 'ms',
  turns: 10,
  goal: { of: 'ratio', atMost: 6, text: '≤ 6 ×' },
  floorName: '`node -e 0`',
  program: firstFrame,
  async floor() {
    const start = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return { value: performance.now() - start };
  },
};

const seconds = 10;
const withinMs = 5;

/**
 * Share of the frames, in percent, that came within 5 ms of their time: 20 ms after one another, counted from where
 * most of them lie.
 *
 * @param {readonly number[]} arrivals
 */
function shareInTime(arrivals) {
  // The first ones leave while the stream is still being opened.
  const offsets = arrivals.map((at, index) => at - index * frameMs).slice(25);
  const usual = quantile(offsets, 0.5);
  const late = offsets.map((offset) => Math.abs(offset - usual));
  return {
    value: (100 * late.filter((ms) => ms <= withinMs).length) / late.length,
    details: { 'p99 ms': quantile(late, 0.99), 'max ms': Math.max(...late), frames: late.length },
  };
}

/** @param {(url: { base: string, ws: string }, file: string) => Promise<unknown>} send */
async function paceOf(send) {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-bench-'));
  const file = join(folder, 'speech.wav');
  writeFileSync(file, wavOf(speechLike(seconds)));
  const service = await startService();
  try {
    const arrivals = service.arrivals();
    arrivals.catch(() => {});
    const sent = await send(
      { base: `http://127.0.0.1:${service.port}`, ws: `ws://127.0.0.1:${service.port}` },
      file,
    );
    if (sent === noInterface) return noInterface;
    return shareInTime((await arrivals).slice(0, (seconds * 1000) / frameMs));
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const pacingBesideTui = {
  name: 'pacing',
  figure: '20 ms pacing with the terminal interface, within 5 ms',
  unit: '%',
  turns: 2,
  goal: { of: 'value', atLeast: 99, text: '≥ 99 %' },
  floorName: 'bare `ws` client',
  async program() {
    const why = whyNoTerminal();
    if (why !== undefined) return { skipped: why };
    return paceOf(async ({ base }, file) => {
      const args = [
        'stream',
        '--file',
        file,
        '--wait',
        '0ms',
        '--tail',
        '0ms',
        '--output',
        'tui',
        '--base-url',
        base,
      ];
      const output = await runInTerminal([process.execPath, program, ...args], {
        env: { VOICECTL_API_KEY: 'bench' },
      }).ended;
      return output.includes(hidesCursor) ? undefined : noInterface;
    });
  },
  floor: async () => bareClientPace(),
};

async function bareClientPace() {
  const measured = await paceOf(async ({ ws }) => {
    const client = join(import.meta.dirname, '..', 'floors', 'client.js');
    await forkToEnd([client, ws, String((seconds * 1000) / frameMs), 'realtime']);
  });
  if ('skipped' in measured) throw new Error(measured.skipped);
  return measured;
}

/** @type {import('../measure/turns.js').Benchmark} */
export const pacingPlain = {
  name: 'pacing-plain',
  figure: '20 ms pacing with plain output, within 5 ms',
  unit: '%',
  turns: 1,
  goal: { of: 'value', atLeast: 99, text: '≥ 99 %' },
  floorName: 'bare `ws` client',
  program: () =>
    paceOf(({ base }, file) =>
      forkToEnd(
        [
          program,
          'stream',
          '--file',
          file,
          '--wait',
          '0ms',
          '--tail',
          '0ms',
          '--output',
          'plain',
          '--base-url',
          base,
        ],
        {
          VOICECTL_API_KEY: 'bench',
        },
      ),
    ),
  floor: bareClientPace,
};
