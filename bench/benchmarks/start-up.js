import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { program, startEmulator } from '../measure/subject.js';

const floors = join(import.meta.dirname, '..', 'floors');
const emptyFile = join(floors, 'empty.js');
const oneLine = join(floors, 'one-line.js');

/**
 * Wall-clock time from starting a process to its end.
 *
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
function timeOf(args, env = {}) {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env: { ...process.env, ...env } });
  const value = performance.now() - start;
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
  return { value };
}

/** @type {import('../measure/turns.js').Benchmark} */
export const version = {
  name: 'version',
  figure: '`--version`',
  unit: 'ms',
  turns: 25,
  goal: { of: 'ratio', atMost: 1.1, text: '≤ 1.1 ×' },
  floorName: 'empty ESM file',
  program: async () => timeOf([program, '--version']),
  floor: async () => timeOf([emptyFile]),
};

/** How much of the distance to an empty file is a line, and a program in a file of its own. @type {import('../measure/turns.js').Benchmark} */
export const versionWritten = {
  name: 'version-written',
  figure: 'the same, compared with the smallest program that writes a line',
  unit: 'ms',
  turns: 25,
  goal: { of: 'ratio', atMost: 1.1, text: '≤ 1.1 ×' },
  floorName: 'two ESM files and a line',
  program: async () => timeOf([program, '--version']),
  floor: async () => timeOf([oneLine]),
};

/** @type {import('../measure/turns.js').Benchmark} */
export const help = {
  name: 'help',
  figure: '`--help`',
  unit: 'ms',
  turns: 25,
  goal: { of: 'ratio', atMost: 1.4, text: '≤ 1.4 ×' },
  floorName: 'empty ESM file',
  program: async () => timeOf([program, '--help']),
  floor: async () => timeOf([emptyFile]),
};

/** @type {import('../measure/subject.js').Subject | undefined} */
let emulator;

/** @type {import('../measure/turns.js').Benchmark} */
export const token = {
  name: 'token',
  figure: '`token` from a local server',
  unit: 'ms',
  turns: 25,
  goal: { of: 'ratio', atMost: 2.5, text: '≤ 2.5 ×' },
  floorName: '`node -e 0`',
  before: async () => {
    emulator = await startEmulator();
  },
  program: async () =>
    timeOf([program, 'token', '--device', 'bench'], {
      VOICECTL_BASE_URL: `http://127.0.0.1:${emulator?.port}`,
    }),
  floor: async () => timeOf(['-e', '0']),
  after: async () => emulator?.stop(),
};
