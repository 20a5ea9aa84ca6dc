import { fork } from 'node:child_process';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { messageOf } from './subject.js';

const root = join(import.meta.dirname, '..', '..');
const generator = join(root, 'node_modules', '.cache', 'voicectl-bench', 'generator.mjs');
let isBuilt = false;

/** It is made of the generator of `voicectl load`, which is TypeScript. */
function buildGenerator() {
  if (isBuilt) return;
  isBuilt = true;
  buildSync({
    absWorkingDir: root,
    entryPoints: ['bench/load/generator.js'],
    outfile: generator,
    bundle: true,
    platform: 'node',
    target: 'node20.18',
    format: 'esm',
    banner: { js: "import{createRequire as _r}from'node:module';const require=_r(import.meta.url);" },
    define: { __VERSION__: '"0.0.0"' },
  });
}

/** A generator that is busier than this, or sends later than that, measures itself. */
export const busy = 0.92;
export const lateMs = 20;

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
  buildGenerator();
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
