import { fork, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../../test/helpers/free-port.js';
import { limitOf, startLoad } from '../measure/load.js';
import { messageOf, program, startEmulator } from '../measure/subject.js';

const peerFolder = join(import.meta.dirname, '..', 'peers');

/**
 * The program beside other programs that do a part of what it does, as they are installed in `folder`: those that
 * are not there are skipped. The ratio is the program's over theirs.
 *
 * @param {string} folder
 * @returns {import('../measure/turns.js').Benchmark[]}
 */
export function peerBenchmarks(folder) {
  const modules = join(resolve(folder), 'node_modules');
  /** @param {string} name @param {() => Promise<import('../measure/turns.js').Measured>} measure */
  const unlessMissing = (name, measure) => async () =>
    existsSync(join(modules, name)) ? measure() : { skipped: `${name} is not installed in ${folder}` };
  const prism = join(modules, '@stoplight', 'prism-cli', 'dist', 'index.js');
  const wscat = join(modules, 'wscat', 'bin', 'wscat');
  return [
    {
      name: 'peer-mockttp',
      figure: 'token requests, 64 connections, compared with mockttp',
      unit: '/s',
      turns: 2,
      goal: { of: 'ratio', atLeast: 1, text: '≥ 1 ×' },
      floorName: 'mockttp',
      program: unlessMissing('mockttp', ourTokens),
      floor: async () => {
        const child = fork(join(peerFolder, 'mockttp.js'), [resolve(folder)], {
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        });
        const { port } = await messageOf(child, (message) => 'port' in message);
        return tokensPerSecond({ port, stop: () => endOf(child) });
      },
    },
    {
      name: 'peer-prism',
      figure: 'token requests, 64 connections, compared with prism',
      unit: '/s',
      turns: 2,
      goal: { of: 'ratio', atLeast: 1, text: '≥ 1 ×' },
      floorName: 'prism',
      program: unlessMissing('@stoplight/prism-cli', ourTokens),
      floor: async () => {
        const port = await freePort();
        const document = join(peerFolder, 'service.openapi.json');
        const child = spawn(process.execPath, [prism, 'mock', '--port', String(port), document], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        await new Promise((listening, reject) => {
          child.stdout.on('data', (text) => String(text).includes('listening') && listening(undefined));
          child.once('exit', reject);
        });
        return tokensPerSecond({ port, stop: () => endOf(child) });
      },
    },
    {
      name: 'peer-wscat',
      figure: '`--version` compared with `wscat --version`',
      unit: 'ms',
      turns: 10,
      goal: { of: 'ratio', atMost: 1, text: '≤ 1 ×' },
      floorName: 'wscat',
      program: unlessMissing('wscat', async () => timeOf([program, '--version'])),
      floor: async () => timeOf([wscat, '--version']),
    },
  ];
}

const ourTokens = async () => tokensPerSecond(await startEmulator());

/** @param {{ port: number, stop: () => Promise<unknown> }} subject */
async function tokensPerSecond({ port, stop }) {
  const load = startLoad({ port, needsToken: true });
  try {
    const result = await load.run('token-requests', { port, connections: 64, warmMs: 1_000, ms: 3_000 });
    const limit = limitOf(result);
    return { value: result.perSecond, ...(limit === undefined ? {} : { limit }) };
  } finally {
    load.stop();
    await stop();
  }
}

/** @param {string[]} args */
function timeOf(args) {
  const start = performance.now();
  spawnSync(process.execPath, args);
  return { value: performance.now() - start };
}

/** @param {import('node:child_process').ChildProcess} child */
function endOf(child) {
  return new Promise((ended) => {
    child.once('close', ended);
    child.kill('SIGKILL');
  });
}
