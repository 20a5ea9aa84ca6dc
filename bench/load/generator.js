/**
 * The load generator: a process of its own, told what to do by its parent and answering each order with a result.
 * What is measured counts from the moment at which a message was due, not from when it was sent: a service that
 * holds up its clients does not thereby look quicker (no coordinated omission).
 */
import { floodAll } from './flood-all.js';
import { floodEcho } from './flood-echo.js';
import { hear } from './hear.js';
import { openStream } from './open-stream.js';
import { pacedEcho } from './paced-echo.js';
import { talk } from './talk.js';
import { requestTokens } from './token-requests.js';

/** Connections that are being opened at the same time. */
const openingAtOnce = 16;

/** @type {import('./open-stream.js').LoadStream[]} */
const streams = [];

/** @type {Record<string, (order: any) => Promise<object>>} */
const orders = {
  /** Opens streams until there are `sessions` of them. */
  async open({ target, sessions }) {
    while (streams.length < sessions) {
      const some = Math.min(openingAtOnce, sessions - streams.length);
      const opened = Array.from({ length: some }, (_, at) =>
        openStream(target, `bench-${streams.length + at}`),
      );
      streams.push(...(await Promise.all(opened)));
    }
    return { sessions: streams.length };
  },
  'paced-echo': (order) => measured((begin) => pacedEcho(streams, order, begin)),
  'flood-all': (order) => measured((begin) => floodAll(streams, order, begin)),
  'flood-echo': (order) => measured((begin) => floodEcho(streams, order, begin)),
  hear: (order) => measured((begin) => hear(streams, order, begin)),
  talk: (order) => measured((begin) => talk(streams, order, begin)),
  'token-requests': (order) => measured((begin) => requestTokens(order, begin)),
};

/**
 * Measures what the generator itself used, from `begin` on.
 *
 * @param {(begin: () => void) => Promise<object>} run
 */
async function measured(run) {
  let cpu = process.cpuUsage();
  let at = performance.now();
  const result = await run(() => {
    cpu = process.cpuUsage();
    at = performance.now();
    process.send?.({ type: 'begun' });
  });
  const used = process.cpuUsage(cpu);
  const closed = streams.filter((stream) => stream.closed).length;
  return { ...result, closed, generatorCpu: (used.user + used.system) / 1000 / (performance.now() - at) };
}

process.on('message', (/** @type {{ type: string }} */ order) => {
  const run = orders[order.type];
  if (run === undefined) throw new Error(`no such order: ${order.type}`);
  run(order).then(
    (result) => process.send?.({ type: 'done', ...result }),
    (thrown) => process.send?.({ type: 'failed', why: thrown.message }),
  );
});
