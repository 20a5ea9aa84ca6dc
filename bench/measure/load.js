import { fork } from 'node:child_process';
import { join } from 'node:path';
import { messageOf } from './subject.js';

const generator = join(import.meta.dirname, '..', 'load', 'generator.js');
/** A generator that is busier than this, or sends later than that, measures itself. */
const busy = 0.92;
const lateMs = 20;

/**
 * The load generator, as its parent sees it.
 *
 * @typedef {object} Load
 * @property {(sessions: number) => Promise<void>} open Opens streams until there are so many.
 * @property {(type: string, order: object, onBegun?: () => void) => Promise<any>} run
 * @property {() => void} stop
 */

/**
 * @param {{ port: number, needsToken: boolean }} target
 * @returns {Load}
 */
export function startLoad({ port, needsToken }) {
  const child = fork(generator, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  /** @param {string} type @param {object} order @param {() => void} [onBegun] */
  const run = async (type, order, onBegun) => {
    const begun = messageOf(child, (message) => message.type === 'begun');
    begun.then(onBegun, () => {});
    const done = messageOf(child, (message) => ['done', 'failed'].includes(message.type));
    child.send({ type, ...order });
    const { type: outcome, why, ...result } = await done;
    if (outcome === 'failed') throw new Error(`load generator: ${why}`);
    return result;
  };
  return {
    async open(sessions) {
      await run('open', { target: { port, needsToken }, sessions });
    },
    run,
    stop: () => void child.kill(),
  };
}

/**
 * Why the generator itself was the limit of what it measured, if it was.
 *
 * @param {{ generatorCpu: number, sendLateP99?: number }} result
 */
export function limitOf({ generatorCpu, sendLateP99 = 0 }) {
  if (generatorCpu > busy) return `load generator at ${Math.round(generatorCpu * 100)} % of a core`;
  if (sendLateP99 > lateMs) return `load generator sent ${Math.round(sendLateP99)} ms late`;
  return undefined;
}
