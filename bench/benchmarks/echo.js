import { limitOf, startLoad } from '../measure/load.js';
import { startEmulator, startFloor } from '../measure/subject.js';

export const startEcho = () => startEmulator({ args: ['--reply', 'echo'] });
const startBareEcho = () => startFloor('echo');

/** The ramp: each step holds this many times the sessions of the one before. */
const fewest = 240;
const growth = 1.15;
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
  goal: { of: 'ratio', atLeast: 1, text: '≥ 1.0 ×' },
  floorName: 'bare `ws`',
  program: async () => sessionsHeld(await startEcho()),
  floor: async () => sessionsHeld(await startBareEcho()),
};

/**
 * What a service uses while so many sessions echo: cores, and microseconds of processor time for each frame.
 *
 * @param {import('../measure/subject.js').Subject} subject
 * @param {number} sessions
 * @param {number} [ms] How long it is measured.
 */
export async function costOfEcho(subject, sessions, ms = 3_000) {
  const load = startLoad(subject);
  try {
    await load.open(sessions);
    // As many frames as one connection takes: what Node compiles, it has compiled before anything is measured.
    await load.run('flood-echo', { warmMs: 0, ms: 1_500 });
    /** @type {Promise<number>} */
    let before = Promise.resolve(0);
    let at = 0;
    const result = await load.run('paced-echo', { warmMs: 1_000, ms }, () => {
      at = performance.now();
      before = subject.cpuMs();
    });
    const usedMs = (await subject.cpuMs()) - (await before);
    const limit = limitOf(result);
    return {
      cores: usedMs / (performance.now() - at),
      microseconds: (usedMs * 1000) / result.received,
      p99: result.p99,
      ...(limit === undefined ? {} : { limit }),
    };
  } finally {
    load.stop();
    await subject.stop();
  }
}

/** @param {Promise<import('../measure/subject.js').Subject>} starting */
async function cpuOfEcho(starting) {
  const { cores, p99, limit } = await costOfEcho(await starting, 300);
  return { value: cores, details: { 'p99 ms': p99 }, ...(limit === undefined ? {} : { limit }) };
}

/** @type {import('../measure/turns.js').Benchmark} */
export const echoCpu = {
  name: 'echo-cpu',
  figure: 'processor use with 300 echo sessions',
  unit: 'cores',
  turns: 4,
  goal: { of: 'ratio', atMost: 1.1, text: '≤ 1.1 ×' },
  floorName: 'bare `ws`',
  program: () => cpuOfEcho(startEcho()),
  floor: () => cpuOfEcho(startBareEcho()),
};

/** @param {boolean} isScraped */
async function latenessOfEcho(isScraped) {
  const subject = await startEcho();
  let bytes = 0;
  const scrape = async () => {
    const response = await fetch(`http://127.0.0.1:${subject.port}/__voicectl/metrics`);
    bytes = (await response.text()).length;
  };
  if (isScraped) await scrape();
  // Each in time, as a scraper asks: one that fails shows in the size.
  const timer = setInterval(() => isScraped && void scrape().catch(() => {}), 1_000);
  try {
    const { p99, cores, limit } = await costOfEcho(subject, 300, 8_000);
    return { value: p99, details: { cores, bytes }, ...(limit === undefined ? {} : { limit }) };
  } finally {
    clearInterval(timer);
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const scraped = {
  name: 'scraped',
  figure: 'echo p99 of 300 sessions, metrics scraped each second',
  unit: 'ms',
  turns: 6,
  onRequest: true,
  goal: { of: 'ratio', atMost: 1.1, text: '≤ 1.1 ×' },
  floorName: 'not scraped',
  program: () => latenessOfEcho(true),
  floor: () => latenessOfEcho(false),
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
  turns: 4,
  goal: { of: 'ratio', atLeast: 1, text: '≥ 1.0 ×' },
  floorName: 'bare `ws`',
  program: async () => framesPerSecond(await startEcho()),
  floor: async () => framesPerSecond(await startBareEcho()),
};
