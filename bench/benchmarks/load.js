import { fork } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { busy, lateMs } from '../measure/load.js';
import { messageOf, program, startFloor } from '../measure/subject.js';

const client = join(import.meta.dirname, '..', 'floors', 'load-client.js');
const probe = join(import.meta.dirname, '..', 'measure', 'probe.js');
/** What is compiled has been compiled then. */
const warmSeconds = 3;
const measuredSeconds = 8;
/** Longer than a busy machine takes to open all sessions; the client is ended before. */
const holdSeconds = 90;

/**
 * What a client tells each second.
 *
 * @typedef {{ open: number, frames: number, lateP99: number, valid?: boolean }} Second
 *
 * @typedef {object} Client
 * @property {string} file
 * @property {(port: number, sessions: number, seconds: number) => string[]} args
 * @property {(line: any) => Second | undefined} read
 */

const perSecond = 100;

/**
 * `processes`: `none` where processor time is measured, which is that of the process of the command.
 *
 * @param {'1' | 'none'} processes
 * @returns {Client}
 */
const ours = (processes) => ({
  file: program,
  args: (port, sessions, seconds) => [
    ...['load', '--base-url', `http://127.0.0.1:${port}`, '--task', 'listen', '--json'],
    ...['--sessions', `${sessions}`, '--arrival', `constant:${perSecond}/s`, '--hold', `${seconds}s`],
    ...['--processes', processes],
  ],
  read: ({ type, open, counts, late }) =>
    type === 'progress' ? { open, frames: counts.framesOut, lateP99: late?.p99 ?? 0 } : undefined,
});

/** @param {string} kind @returns {Client} */
const bare = (kind) => ({
  file: client,
  args: (port, sessions, seconds) => [kind, `${port}`, `${sessions}`, `${perSecond}`, `${seconds}`],
  read: (line) => line,
});

/**
 * Holds sessions with a client, and measures it while all of them are open: processor time of a frame, and the cores
 * of client and service.
 *
 * @param {Client} client
 * @param {{ sessions: number, service?: string[] }} options
 */
async function hold({ file, args, read }, { sessions, service: serviceArgs = [] }) {
  const service = await startFloor('silent', serviceArgs);
  const child = fork(file, args(service.port, sessions, holdSeconds), {
    execArgv: ['--import', probe],
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    const cpuMs = async () => {
      const answer = messageOf(child, (message) => message.answer === 'cpu');
      child.send({ ask: 'cpu' });
      return (await answer).ms;
    };
    const moment = async (/** @type {Second} */ { frames }) => {
      const at = performance.now();
      const [own, other] = await Promise.all([cpuMs(), service.cpuMs()]);
      return { at, frames, own, other };
    };
    let lateP99 = 0;
    let full = 0;
    /** @type {Awaited<ReturnType<typeof moment>> | undefined} */
    let before;
    for await (const line of createInterface({ input: /** @type {any} */ (child.stdout) })) {
      const second = read(JSON.parse(line));
      if (second === undefined || second.open < sessions) continue;
      full += 1;
      if (full === warmSeconds) before = await moment(second);
      if (full > warmSeconds) lateP99 = Math.max(lateP99, second.lateP99);
      if (full === warmSeconds + measuredSeconds && before !== undefined) {
        const after = await moment(second);
        const frames = after.frames - before.frames;
        return {
          microseconds: ((after.own - before.own) * 1000) / frames,
          core: (after.own - before.own) / (after.at - before.at),
          serviceCore: (after.other - before.other) / (after.at - before.at),
          'share of due frames': frames / (sessions * 50 * measuredSeconds),
          lateP99,
        };
      }
    }
    throw new Error(`${sessions} sessions were never open at once: this machine is too busy`);
  } finally {
    child.kill('SIGKILL');
    await ended;
    await service.stop();
  }
}

/** @param {Awaited<ReturnType<typeof hold>>} held */
function details({ core, serviceCore, lateP99, ...held }) {
  return {
    'core of the client': core,
    'of the service': serviceCore,
    'sent late p99 ms': lateP99,
    'share of due frames': held['share of due frames'],
  };
}

/**
 * What was the limit, where frames left late.
 *
 * @param {Awaited<ReturnType<typeof hold>>} held
 */
function limit({ core, serviceCore, lateP99 }) {
  if (lateP99 <= lateMs) return {};
  const [own, other] = [core, serviceCore].map((share) => `${Math.round(share * 100)} %`);
  if (core > busy) return { limit: `the client, at ${own} of a core` };
  if (serviceCore > busy) return { limit: `the service, at ${other} of a core` };
  return { limit: `this machine: client and service got ${own} and ${other} of a core` };
}

const many = { sessions: 1_000 };

/** @type {import('../measure/turns.js').Benchmark} */
export const loadLateness = {
  name: 'load-lateness',
  figure: '`load`, 1,000 sessions from one core: frames sent late, p99 of a second',
  unit: 'ms',
  turns: 2,
  goal: { of: 'value', atMost: 5, text: '≤ 5 ms' },
  floorName: 'bare `socket.write`',
  program: async () => {
    const held = await hold(ours('1'), many);
    return { value: held.lateP99, details: details(held), ...limit(held) };
  },
  floor: async () => {
    const held = await hold(bare('write'), many);
    return { value: held.lateP99, ...limit(held) };
  },
};

/**
 * @param {string} name
 * @param {string} figure
 * @param {import('../measure/turns.js').Benchmark['goal']} goal
 * @param {{ sessions: number, service?: string[] }} options
 * @returns {import('../measure/turns.js').Benchmark}
 */
function costBesideWs(name, figure, goal, options) {
  return {
    ...{ name, figure, goal, unit: 'µs', turns: 2, floorName: 'bare `ws` clients' },
    program: async () => {
      const least = await hold(bare('write'), options);
      const held = await hold(ours('none'), options);
      return {
        value: held.microseconds,
        details: { 'bare socket.write µs': least.microseconds, ...details(held) },
        ...limit(held),
      };
    },
    floor: async () => ({ value: (await hold(bare('ws'), options)).microseconds }),
  };
}

export const loadCpu = costBesideWs(
  'load-cpu',
  '`load`, processor time per frame, 300 sessions that only send',
  { of: 'ratio', atMost: 0.85, text: '≤ 0.85 ×' },
  { sessions: 300 },
);

export const loadHeard = costBesideWs(
  'load-heard',
  '`load`, processor time per frame, 300 sessions that send and hear',
  { of: 'ratio', atMost: 0.9, text: '≤ 0.9 ×' },
  { sessions: 300, service: ['echo'] },
);
