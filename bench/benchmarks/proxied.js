import { limitOf, startLoad } from '../measure/load.js';
import { startFloor, startProxy } from '../measure/subject.js';

const sessions = 50;
/** What 50 streams need for the first time, and the first marking after it, are over then. */
const order = { warmMs: 5_000, ms: 4_000 };

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
  figure: 'what `proxy` adds to the echo p99 of 50 sessions',
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
  figure: 'the same, compared with a TCP relay',
  floorName: 'bare TCP relay',
  floor: relay('tcp'),
};

/** Frames of 50 streams in an hour, in each direction. */
const framesInAnHour = sessions * 50 * 3_600;
/** The first part fills caches and pools; growth counts from there. */
const parts = 9;

/**
 * What the frames of an hour leave in the memory of `proxy`: they go as fast as they can, since it is their number that may
 * leave something, and back-pressure is on all the time.
 *
 * @type {import('../measure/turns.js').Benchmark}
 */
export const proxiedMemory = {
  name: 'proxied-memory',
  onRequest: true,
  figure: `growth of the memory of \`proxy\` over the frames of an hour of ${sessions} streams`,
  unit: 'MB',
  turns: 1,
  goal: { of: 'value', atMost: 10, text: '≤ 10 MB' },
  async program() {
    const service = await startFloor('echo');
    const subject = await startProxy(service.port);
    const load = startLoad(subject);
    try {
      await load.open(sessions);
      const held = [];
      const resident = [];
      for (let part = 0; part <= parts; part += 1) {
        await load.run('flood-all', { frames: framesInAnHour / parts });
        const memory = await subject.memory();
        held.push(memory.held / 1e6);
        resident.push(memory.rss / 1e6);
        console.error(
          `part ${part}: held ${held.at(-1)?.toFixed(1)} MB, resident ${resident.at(-1)?.toFixed(0)} MB`,
        );
      }
      return {
        value: (held.at(-1) ?? Number.NaN) - (held[0] ?? Number.NaN),
        details: {
          'held MB': held.map((megabytes) => megabytes.toFixed(1)).join(' '),
          'resident MB': resident.map((megabytes) => megabytes.toFixed(0)).join(' '),
        },
      };
    } finally {
      load.stop();
      await subject.stop();
      await service.stop();
    }
  },
};
