import { startLoad } from '../measure/load.js';
import { startEmulator } from '../measure/subject.js';
import { costOfEcho, startEcho } from './echo.js';

const few = 10;
const steps = [few, 100, 300, 1_000];

/** @type {import('../measure/turns.js').Benchmark} */
export const growth = {
  name: 'growth',
  figure: 'processor time per frame with 1,000 echo sessions, divided by that with 10',
  unit: '×',
  turns: 1,
  goal: { of: 'value', atMost: 1.1, text: '≤ 1.1 ×' },
  async program() {
    /** @type {Record<string, number>} */
    const details = {};
    /** @type {string | undefined} */
    let limit;
    const costs = [];
    for (const sessions of steps) {
      const measured = await costOfEcho(await startEcho(), sessions);
      costs.push(measured.microseconds);
      details[`µs per frame at ${sessions} sessions`] = measured.microseconds;
      limit ??= measured.limit;
    }
    const value = (costs.at(-1) ?? Number.NaN) / (costs[0] ?? Number.NaN);
    return { value, details, ...(limit === undefined ? {} : { limit }) };
  },
};

const sessions = 100;

/**
 * Parrots that are talked to for a long time: how much memory they take at the end beside what they took after a
 * fifth of it.
 *
 * @param {number} minutes
 * @returns {import('../measure/turns.js').Benchmark}
 */
export function soakFor(minutes) {
  return {
    name: 'soak',
    onRequest: true,
    figure: `growth of the memory over ${minutes} minutes, ${sessions} parrot sessions`,
    unit: 'MB',
    turns: 1,
    goal: { of: 'value', atMost: 10, text: '≤ 10 MB' },
    async program() {
      const subject = await startEmulator();
      const load = startLoad(subject);
      try {
        await load.open(sessions);
        const held = [];
        const resident = [];
        const parts = 10;
        for (let part = 0; part < parts; part += 1) {
          await load.run('talk', { warmMs: 0, ms: (minutes * 60_000) / parts });
          const memory = await subject.memory();
          held.push(memory.held / 1e6);
          resident.push(memory.rss / 1e6);
        }
        return {
          value: (held.at(-1) ?? Number.NaN) - (held[1] ?? Number.NaN),
          details: {
            'held MB': held.map((megabytes) => megabytes.toFixed(1)).join(' '),
            'resident MB': resident.map((megabytes) => megabytes.toFixed(0)).join(' '),
          },
        };
      } finally {
        load.stop();
        await subject.stop();
      }
    },
  };
}
