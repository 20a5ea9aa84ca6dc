import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

const require = createRequire(import.meta.url);

/** What the figures were measured on and with. */
export function describeMachine() {
  const [cpu] = cpus();
  return {
    processor: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    versions: {
      node: process.versions.node,
      voicectl: versionOf('../../package.json'),
      ...Object.fromEntries(
        ['ws', 'jose', 'undici', 'zod', 'commander'].map((name) => [
          name,
          versionOf(`../../node_modules/${name}/package.json`),
        ]),
      ),
    },
  };
}

/** Processes that wanted to run over the last minute, on average. */
export function busyness() {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

/** @param {string} path */
function versionOf(path) {
  return /** @type {{ version: string }} */ (JSON.parse(readFileSync(require.resolve(path), 'utf8'))).version;
}
