import { limitOf, startLoad } from '../measure/load.js';
import { startFloor, startProxy } from '../measure/subject.js';

const sessions = 50;
const order = { warmMs: 1_000, ms: 4_000 };

/**
 * The time from the moment at which a frame was due to its echo, p99 of 50 sessions.
 *
 * @param {import('../measure/subject.js').Subject} subject
 */
async function echoed(subject) {
  const load = startLoad(subject);
  try {
    await load.open(sessions);
    // What Node compiles it has compiled then, and whether the frames are audio has been decided.
    await load.run('flood-echo', { warmMs: 0, ms: 3_000 });
    const result = await load.run('paced-echo', order);
    if (result.closed > 0) throw new Error(`${result.closed} streams were closed`);
    return result;
  } finally {
    load.stop();
  }
}

/**
 * What something in between adds to the p99 of an echo, beside the same echo without it.
 *
 * @param {(port: number) => Promise<import('../measure/subject.js').Subject>} startBetween
 */
async function added(startBetween) {
  const service = await startFloor('echo');
  try {
    const direct = await echoed(service);
    const between = await startBetween(service.port);
    try {
      const result = await echoed(between);
      const limit = limitOf(result) ?? limitOf(direct);
      const details = { 'p50 ms': result.p50 - direct.p50, 'direct p99 ms': direct.p99 };
      return { value: result.p99 - direct.p99, details, ...(limit === undefined ? {} : { limit }) };
    } finally {
      await between.stop();
    }
  } finally {
    await service.stop();
  }
}

/** @param {string} kind */
const relay = (kind) => () => added((port) => startFloor('relay', [kind, String(port)]));

/** @type {import('../measure/turns.js').Benchmark} */
export const proxied = {
  name: 'proxied',
  figure: 'added to the echo p99 of 50 sessions by `proxy`',
  unit: 'ms',
  turns: 3,
  goal: { of: 'value', atMost: 2, text: '≤ 2 ms' },
  floorName: 'bare `ws` relay',
  program: () => added(startProxy),
  floor: relay('ws'),
};

/** @type {import('../measure/turns.js').Benchmark} */
export const relayedTcp = {
  ...proxied,
  name: 'proxied-tcp',
  figure: 'the same, beside a relay of TCP',
  floorName: 'bare TCP relay',
  floor: relay('tcp'),
};
