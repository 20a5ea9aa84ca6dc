import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stallProcess } from '../../test/helpers/sound-server.js';
import { openScene } from './measure.js';
import { now } from './time.js';

/** @typedef {Awaited<ReturnType<typeof openScene>>} Scene */

/** Programs that record and play, for the wrappers. */
const programs = ['parec', 'pacat', 'arecord', 'aplay', 'sox', 'play', 'ffmpeg', 'ffplay'];
const patienceMs = 25_000;

/**
 * What is done to a session, and whether the session is to end by it.
 *
 * @type {Record<string, { flags?: string[], wraps?: boolean, strike(scene: Scene): Promise<void> | void, ends: boolean }>}
 */
const faults = {
  'server killed': { strike: ({ server }) => server.kill(), ends: true },
  'server restarted': {
    flags: ['--sound-timeout', '15s'],
    async strike({ server }) {
      server.kill();
      await sleep(1_000);
      await server.start();
    },
    ends: false,
  },
  'server stopped 600 ms': { strike: ({ server }) => server.stall(600), ends: false },
  'server stopped for good': {
    strike: ({ server }) => void process.kill(server.pid, 'SIGSTOP'),
    ends: true,
  },
  'loudspeaker and microphone unplugged': {
    strike({ server: { env } }) {
      for (const module of ['module-virtual-source', 'module-null-sink']) {
        execFileSync('pactl', ['unload-module', module], { env });
      }
    },
    ends: true,
  },
  'device process stopped 600 ms': {
    async strike({ pid }) {
      await Promise.all(childrenOf(pid).map((child) => stallProcess(child, 600)));
    },
    ends: false,
  },
  'wrapper script, then Ctrl-C': { wraps: true, strike: () => {}, ends: false },
};

/**
 * Each fault in a session of its own: how it ended and after how long, what is left running, and whether the files are
 * whole.
 *
 * @param {string} backend
 */
export async function measureFaults(backend) {
  /** @type {Record<string, string>} */
  const row = {};
  for (const [name, fault] of Object.entries(faults)) row[name] = await judge(backend, fault);
  return row;
}

/** @param {string} backend @param {(typeof faults)[string]} fault */
async function judge(backend, { flags = [], wraps = false, strike, ends }) {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-bench-faults-'));
  const files = ['out', 'record-mic', 'record-both'].map((flag) => ({
    flag,
    path: join(folder, `${flag}.wav`),
  }));
  const scene = await openScene(backend, {
    flags: [...flags, ...files.flatMap(({ flag, path }) => [`--${flag}`, path])],
    env: wraps ? { PATH: `${makeWrappers(folder)}${delimiter}${process.env.PATH}` } : {},
  });
  try {
    if (!scene.service.isLive) return `did not begin: ${scene.problem().split('\n')[0]}`;
    await sleep(3_000);
    const before = descendantsOf(scene.pid);
    const at = now();
    await strike(scene);
    const limit = ends ? patienceMs : 6_000;
    while (!scene.isOver && now() - at < limit) await sleep(20);
    const isOver = scene.isOver;
    const seconds = ((now() - at) / 1_000).toFixed(1);
    const code = await scene.close();
    const left = before.filter(isRunning).length;
    const broken = files.filter(({ path }) => !isWhole(path)).map(({ flag }) => flag);
    const problems = [
      isOver === ends ? '' : ends ? 'did not end' : 'ended',
      left === 0 ? '' : `${left} processes left`,
      broken.length === 0 ? '' : `broken: ${broken.join(', ')}`,
    ].filter((problem) => problem !== '');
    const told = isOver ? `${code} after ${seconds} s` : `went on, then ${code}`;
    return [told, ...problems].join('; ');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Scripts with the names of the programs, that start the real ones and wait for them. @param {string} folder */
function makeWrappers(folder) {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of programs) {
    const real = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    if (real === '') continue;
    writeFileSync(join(bin, name), `#!/bin/sh\n${real} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

/** @param {number} pid @returns {number[]} */
function childrenOf(pid) {
  return spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line.trim() !== '')
    .map(Number);
}

/** @param {number} pid @returns {number[]} */
function descendantsOf(pid) {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}

/** A WAV whose header says how much audio it has. @param {string} path */
function isWhole(path) {
  if (!existsSync(path)) return false;
  const wav = readFileSync(path);
  return wav.length > 44 && wav.readUInt32LE(40) === wav.length - 44;
}
