import { limitOf, startLoad } from '../measure/load.js';
import { startEmulator, startFloor } from '../measure/subject.js';

const order = { connections: 64, warmMs: 1_000, ms: 3_000 };

/** @param {import('../measure/subject.js').Subject} subject */
async function tokensPerSecond(subject) {
  const load = startLoad(subject);
  try {
    const result = await load.run('token-requests', { port: subject.port, ...order });
    const limit = limitOf(result);
    return { value: result.perSecond, ...(limit === undefined ? {} : { limit }) };
  } finally {
    load.stop();
    await subject.stop();
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const tokenRate = {
  name: 'token-rate',
  figure: 'token requests, 64 connections',
  unit: '/s',
  turns: 4,
  goal: { of: 'ratio', atLeast: 0.5, text: '≥ 0.5 ×' },
  floorName: 'bare `node:http`',
  program: async () => tokensPerSecond(await startEmulator()),
  floor: async () => tokensPerSecond(await startFloor('http')),
};
