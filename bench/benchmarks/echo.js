import { limitOf, startLoad } from '../measure/load.js';
import { startEmulator, startFloor } from '../measure/subject.js';

const startEcho = () => startEmulator({ args: ['--reply', 'echo'] });
const startBareEcho = () => startFloor('echo');

/** The ramp: each step holds this many times the sessions of the one before. */
const fewest = 240;
const growth = 1.1;
const most = 2_000;
const boundMs = 50;

/**
 * How many sessions that send and get a frame every 20 ms a service holds, before the slowest 1 % of the frames take
 * longer than 50 ms. A step that fails is tried again: a moment of a busy machine is no limit.
 *
 * @param {import('../measure/subject.js').Subject} subject
 */
async function sessionsHeld(subject) {
  const load = startLoad(subject);
  try {
    let held = 0;
    /** @type {string | undefined} */
    let limit;
    for (let sessions = fewest; sessions <= most; sessions = Math.round(sessions * growth)) {
      await load.open(sessions);
      let result = await load.run('paced-echo', { warmMs: 500, ms: 1_000 });
      if (result.p99 > boundMs) result = await load.run('paced-echo', { warmMs: 500, ms: 1_000 });
      if (result.closed > 0) throw new Error(`${result.closed} streams were closed`);
      if (result.p99 > boundMs) {
        limit = limitOf(result);
        break;
      }
      held = sessions;
    }
    return { value: held, ...(limit === undefined ? {} : { limit }) };
  } finally {
    load.stop();
    await subject.stop();
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const echoHeld = {
  name: 'echo-held',
  figure: 'echo sessions held, p99 ≤ 50 ms',
  unit: 'sessions',
  turns: 3,
  goal: { of: 'ratio', atLeast: 1.4, text: '≥ 1.4 ×' },
  floorName: 'bare `ws`',
  program: async () => sessionsHeld(await startEcho()),
  floor: async () => sessionsHeld(await startBareEcho()),
};

/**
 * Share of a core that a service uses while this many sessions echo.
 *
 * @param {import('../measure/subject.js').Subject} subject
 * @param {number} sessions
 */
export async function cpuOfEcho(subject, sessions) {
  const load = startLoad(subject);
  try {
    await load.open(sessions);
    /** @type {Promise<number>} */
    let before = Promise.resolve(0);
    let at = 0;
    const result = await load.run('paced-echo', { warmMs: 1_500, ms: 3_000 }, () => {
      at = performance.now();
      before = subject.cpuMs();
    });
    const used = (await subject.cpuMs()) - (await before);
    const limit = limitOf(result);
    const details = { 'p99 ms': result.p99, generator: result.generatorCpu };
    return { value: used / (performance.now() - at), details, ...(limit === undefined ? {} : { limit }) };
  } finally {
    load.stop();
    await subject.stop();
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const echoCpu = {
  name: 'echo-cpu',
  figure: 'processor at 300 echo sessions',
  unit: 'cores',
  turns: 4,
  goal: { of: 'ratio', atMost: 0.85, text: '≤ 0.85 ×' },
  floorName: 'bare `ws`',
  program: async () => cpuOfEcho(await startEcho(), 300),
  floor: async () => cpuOfEcho(await startBareEcho(), 300),
};

/** @param {import('../measure/subject.js').Subject} subject */
async function framesPerSecond(subject) {
  const load = startLoad(subject);
  try {
    await load.open(1);
    const result = await load.run('flood-echo', { warmMs: 700, ms: 2_000 });
    const limit = limitOf(result);
    return { value: result.perSecond, ...(limit === undefined ? {} : { limit }) };
  } finally {
    load.stop();
    await subject.stop();
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const oneConnection = {
  name: 'one-connection',
  figure: 'echo frames on one connection',
  unit: '/s',
  turns: 5,
  goal: { of: 'ratio', atLeast: 1, text: '≥ 1.0 ×' },
  floorName: 'bare `ws`',
  program: async () => framesPerSecond(await startEcho()),
  floor: async () => framesPerSecond(await startBareEcho()),
};
