import { fork } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { putFirst } from '../../test/helpers/ahead.js';

const root = join(import.meta.dirname, '..', '..');
export const program = join(root, 'bin', 'voicectl.js');
const probe = join(import.meta.dirname, 'probe.js');
const startLimitMs = 15_000;
/** How the program exits when it is stopped. */
const terminatedCode = 143;

/**
 * A process that is measured: the program, or a floor.
 *
 * @typedef {object} Subject
 * @property {number} port
 * @property {number | undefined} pid
 * @property {boolean} needsToken
 * @property {() => Promise<number>} cpuMs Processor time that it has used so far.
 * @property {() => Promise<{ held: number, rss: number }>} memory Bytes, after garbage was collected.
 * @property {() => Promise<void>} stop
 */

/**
 * Starts `voicectl serve` on a free port, without output.
 *
 * @param {{ args?: string[], nodeArgs?: string[] }} [options]
 * @returns {Promise<Subject>}
 */
export function startEmulator({ args = [], nodeArgs = [] } = {}) {
  return startListening(['serve', '--port', '0', '--quiet', ...args], nodeArgs, true);
}

/**
 * Starts `voicectl proxy` in front of a port of this machine, without output.
 *
 * @param {number} port
 * @param {string[]} [args]
 * @returns {Promise<Subject>}
 */
export function startProxy(port, args = []) {
  const target = `http://127.0.0.1:${port}`;
  return startListening(['proxy', '--target', target, '--port', '0', '--quiet', ...args], [], false);
}

/** @param {string[]} args @param {string[]} nodeArgs @param {boolean} needsToken @returns {Promise<Subject>} */
async function startListening(args, nodeArgs, needsToken) {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-bench-'));
  const readyFile = join(folder, 'ready.json');
  // Clients that measure end without a word, which the program reports a thousand times: shown only if it fails.
  const errors = join(folder, 'errors.txt');
  const descriptor = openSync(errors, 'w');
  const child = forkMeasured(program, [...args, '--ready-file', readyFile], nodeArgs, descriptor);
  closeSync(descriptor);
  child.once('exit', (code) => {
    if (code !== 0 && code !== terminatedCode) process.stderr.write(readFileSync(errors));
    rmSync(folder, { recursive: true, force: true });
  });
  try {
    const port = await withLimit(
      new Promise((resolve, reject) => {
        const watcher = watch(folder, () => {
          try {
            const { baseUrl } = JSON.parse(readFileSync(readyFile, 'utf8'));
            watcher.close();
            resolve(Number(new URL(baseUrl).port));
          } catch {
            // Not written yet.
          }
        });
        child.once('exit', (code) => reject(new Error(`voicectl ${args[0]} ended with ${code}`)));
      }),
    );
    return subjectOf(child, port, needsToken);
  } catch (thrown) {
    child.kill();
    throw thrown;
  }
}

/**
 * Starts one of the servers in `floors/`.
 *
 * @param {string} name
 * @param {string[]} [args]
 * @returns {Promise<Subject>}
 */
export async function startFloor(name, args = []) {
  const child = forkMeasured(join(root, 'bench', 'floors', `${name}.js`), args, []);
  const { port } = await withLimit(messageOf(child, (message) => 'port' in message));
  return subjectOf(child, port, false);
}

/**
 * Starts the service of `floors/`, which tells when the frames of a stream arrived.
 *
 * @returns {Promise<Subject & { arrivals(): Promise<number[]> }>}
 */
export async function startService() {
  const child = forkMeasured(join(root, 'bench', 'floors', 'service.js'), [], []);
  const { port } = await withLimit(messageOf(child, (message) => 'port' in message));
  return {
    ...subjectOf(child, port, false),
    arrivals: async () => (await messageOf(child, (message) => 'arrivals' in message)).arrivals,
  };
}

/**
 * Starts the service of `floors/` whose delays are known. It comes before all else, and its garbage collector has no
 * threads of its own: what waits for a core before the service accepts it has waited longer than the log says.
 *
 * @param {import('../load/known-service.js').Known} known
 * @returns {Promise<Subject & { log(): Promise<import('../load/known-service.js').Log> }>}
 */
export async function startKnown(known) {
  const child = forkMeasured(
    join(root, 'bench', 'floors', 'known.js'),
    [JSON.stringify(known)],
    ['--single-threaded-gc'],
  );
  putFirst(child);
  const { port } = await withLimit(messageOf(child, (message) => 'port' in message));
  // Code that runs for the first time takes 10 ms, which the service itself does not see.
  const warm = { method: 'POST', body: '{}' };
  await Promise.all(Array.from({ length: 40 }, () => fetch(`http://127.0.0.1:${port}/`, warm)));
  child.send({ ask: 'forget' });
  return {
    ...subjectOf(child, port, false),
    async log() {
      const answer = messageOf(child, (message) => 'log' in message);
      child.send({ ask: 'log' });
      return (await answer).log;
    },
  };
}

/**
 * Runs a program to its end, which must be a good one, and tells the most memory that it held.
 *
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 * @returns {Promise<{ peakBytes: number }>}
 */
export async function forkToEnd([file = '', ...args], env = {}) {
  const child = fork(file, args, {
    execArgv: ['--import', probe],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  let peakBytes = 0;
  child.on('message', (/** @type {any} */ message) => {
    if (message.answer === 'peak') peakBytes = message.bytes;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}`);
  return { peakBytes };
}

/**
 * Starts any command of the program, without output.
 *
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, stdin?: number | 'ignore' }} [options]
 * @returns {Pick<Subject, 'pid' | 'memory' | 'stop'> & { ended: Promise<number | null> }}
 */
export function startCommand(args, { env = {}, stdin = 'ignore' } = {}) {
  const child = fork(program, args, {
    execArgv: ['--expose-gc', '--import', probe],
    stdio: [stdin, 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, ...env },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return { ...subjectOf(child, 0, false), ended };
}

/** @param {string} file @param {string[]} args @param {string[]} nodeArgs @param {number | 'inherit'} [errors] */
function forkMeasured(file, args, nodeArgs, errors = 'inherit') {
  return fork(file, args, {
    execArgv: ['--expose-gc', '--import', probe, ...nodeArgs],
    stdio: ['ignore', 'ignore', errors, 'ipc'],
  });
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} port
 * @param {boolean} needsToken
 * @returns {Subject}
 */
function subjectOf(child, port, needsToken) {
  /** @param {string} what */
  const ask = (what) => {
    const answer = messageOf(child, (message) => message.answer === what);
    // One that has ended is told by the answer.
    child.send({ ask: what }, () => {});
    return answer;
  };
  return {
    port,
    pid: child.pid,
    needsToken,
    cpuMs: async () => (await ask('cpu')).ms,
    memory: () => ask('memory'),
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) {
          resolve();
          return;
        }
        const kill = setTimeout(() => child.kill('SIGKILL'), 6_000);
        child.once('exit', () => {
          clearTimeout(kill);
          resolve();
        });
        child.kill('SIGTERM');
      }),
  };
}

/**
 * The next message of a process that `matches`.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @param {(message: any) => boolean} matches
 * @returns {Promise<any>}
 */
export function messageOf(child, matches) {
  return new Promise((resolve, reject) => {
    /** @param {any} message */
    const listener = (message) => {
      if (!matches(message)) return;
      child.off('message', listener);
      child.off('exit', onExit);
      resolve(message);
    };
    const onExit = () =>
      reject(new Error(`${child.spawnfile} ${child.spawnargs.slice(1).join(' ')} has ended`));
    child.on('message', listener);
    child.once('exit', onExit);
  });
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
async function withLimit(promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not started within ${startLimitMs / 1000} s`)), startLimitMs);
  });
  try {
    return /** @type {T} */ (await Promise.race([promise, late]));
  } finally {
    clearTimeout(timer);
  }
}
