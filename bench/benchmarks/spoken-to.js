import { join } from 'node:path';
import { limitOf, startLoad } from '../measure/load.js';
import { startEmulator, startFloor } from '../measure/subject.js';

const sessions = 1_000;
const speaker = join(import.meta.dirname, '..', 'load', 'always-speaking.js');

/** @param {import('../measure/subject.js').Subject} subject */
async function lateness(subject) {
  const load = startLoad(subject);
  try {
    await load.open(sessions);
    /** @type {Promise<number>} */
    let before = Promise.resolve(0);
    let at = 0;
    const result = await load.run('hear', { warmMs: 2_000, ms: 4_000 }, () => {
      at = performance.now();
      before = subject.cpuMs();
    });
    const cores = ((await subject.cpuMs()) - (await before)) / (performance.now() - at);
    const limit = limitOf(result);
    const details = { cores, 'p50 ms': result.p50, 'share of due frames': result.received };
    return { value: result.p99, details, ...(limit === undefined ? {} : { limit }) };
  } finally {
    load.stop();
    await subject.stop();
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const spokenTo = {
  name: 'spoken-to',
  figure: 'lateness p99, 1,000 sessions being spoken to',
  unit: 'ms',
  turns: 3,
  goal: { of: 'ratio', atMost: 1.2, text: '≤ 1.2 ×' },
  floorName: 'bare `ws`, one timer',
  program: async () => lateness(await startEmulator({ args: ['--reply', `module:${speaker}`] })),
  floor: async () => lateness(await startFloor('speak')),
};
