import { fork } from 'node:child_process';
import { join } from 'node:path';
import { program, startFloor } from '../measure/subject.js';

const client = join(import.meta.dirname, '..', 'floors', 'load-client.js');

/**
 * Runs a client to its end, and tells the processor time that it used, its start included.
 *
 * @param {string} file
 * @param {string[]} args
 * @returns {Promise<{ cpuMs: number, stdout: string }>}
 */
async function runClient(file, args) {
  const child = fork(file, args, {
    execArgv: ['--import', join(import.meta.dirname, '..', 'measure', 'probe.js')],
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  let [stdout, cpuMs] = ['', Number.NaN];
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.on('message', (/** @type {any} */ message) => {
    if (message.answer === 'peak') cpuMs = message.cpuMs;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return { cpuMs, stdout };
}

/** @param {number} sessions @param {number} perSecond @param {number} seconds */
async function load(sessions, perSecond, seconds) {
  const service = await startFloor('silent');
  try {
    const { cpuMs, stdout } = await runClient(program, [
      ...['load', '--base-url', `http://127.0.0.1:${service.port}`, '--task', 'listen', '--json'],
      ...['--sessions', String(sessions), '--arrival', `constant:${perSecond}/s`, '--hold', `${seconds}s`],
    ]);
    const objects = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { counts, lateMs, generators } = objects.find(({ type }) => type === 'summary');
    if (counts.done !== sessions) throw new Error(`${counts.done} of ${sessions} sessions were held`);
    return { cpuMs, lateMs, core: generators[0].core, frames: counts.framesOut };
  } finally {
    await service.stop();
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const loadLateness = {
  name: 'load-lateness',
  figure: '`load`, 1,000 sessions from one core: frames sent late, p99',
  unit: 'ms',
  turns: 2,
  goal: { of: 'value', atMost: 5, text: '≤ 5 ms' },
  program: async () => {
    const { lateMs, core, frames } = await load(1_000, 100, 20);
    return { value: lateMs.p99, details: { 'p50 ms': lateMs.p50, 'max ms': lateMs.max, core, frames } };
  },
};

const few = 300;

/** @type {import('../measure/turns.js').Benchmark} */
export const loadCpu = {
  name: 'load-cpu',
  figure: '`load`, processor of a frame of a session among 300',
  unit: 'µs',
  turns: 2,
  goal: { of: 'ratio', atMost: 0.7, text: '≤ 0.7 ×' },
  floorName: 'bare `ws` clients',
  program: async () => {
    const { cpuMs, lateMs, frames } = await load(few, 100, 20);
    return { value: (cpuMs * 1000) / frames, details: { 'sent late p99 ms': lateMs.p99, frames } };
  },
  floor: async () => {
    const service = await startFloor('silent');
    try {
      const url = `ws://127.0.0.1:${service.port}/voice-stream`;
      const { cpuMs, stdout } = await runClient(client, [url, String(few), '100', '20']);
      return { value: (cpuMs * 1000) / JSON.parse(stdout).frames };
    } finally {
      await service.stop();
    }
  },
};
