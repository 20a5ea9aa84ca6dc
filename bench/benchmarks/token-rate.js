import { spawn, spawnSync } from 'node:child_process';
import { freePort } from '../../test/helpers/free-port.js';
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
  goal: { of: 'ratio', atLeast: 0.55, text: '≥ 0.55 ×' },
  floorName: 'bare `node:http`',
  program: async () => tokensPerSecond(await startEmulator()),
  floor: async () => tokensPerSecond(await startFloor('http')),
};

/** How much of the distance to a constant answer is the request itself. @type {import('../measure/turns.js').Benchmark} */
export const tokenRateSigned = {
  name: 'token-rate-signed',
  figure: 'the same, compared with the least work that a token request needs',
  unit: '/s',
  turns: 4,
  goal: { of: 'ratio', atLeast: 0.9, text: '≥ 0.9 ×' },
  floorName: '`node:http` and `createHmac`',
  program: async () => tokensPerSecond(await startEmulator()),
  floor: async () => tokensPerSecond(await startFloor('token')),
};

const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** An emulator that shares its state through a Redis of its own. */
async function sharedTokensPerSecond() {
  if (!hasRedis) return { skipped: 'no redis-server' };
  const port = await freePort();
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const redis = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await new Promise((ready, reject) => {
      redis.stdout.on('data', (text) => String(text).includes('Ready to accept') && ready(undefined));
      redis.once('exit', () => reject(new Error('redis-server ended at its start')));
    });
    return await tokensPerSecond(await startEmulator({ args: ['--shared', `redis://127.0.0.1:${port}`] }));
  } finally {
    redis.kill('SIGKILL');
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const tokenRateShared = {
  name: 'token-rate-shared',
  figure: 'token requests with a shared Redis, 64 connections',
  unit: '/s',
  turns: 4,
  goal: { of: 'ratio', atLeast: 0.4, text: '≥ 0.4 ×' },
  floorName: 'with its own memory',
  program: sharedTokensPerSecond,
  floor: async () => tokensPerSecond(await startEmulator()),
};
