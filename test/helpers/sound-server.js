import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ahead, putFirst } from './ahead.js';

/**
 * What it does when it starts. Until a program wants less, a null sink makes blocks of 2 s, as an idle loudspeaker does,
 * and again after each under-run; without rewinds, of 50 ms. For the microphone's, PortAudio and sox poll without a pause
 * meanwhile.
 *
 * @param {boolean} isAwake
 */
const scriptOf = (isAwake) => `
load-module module-native-protocol-unix
load-module module-null-sink sink_name=spk rate=48000 norewinds=${isAwake ? 1 : 0}
load-module module-null-sink sink_name=micsrc rate=16000 channels=1 norewinds=1
load-module module-virtual-source source_name=mic master=micsrc.monitor
set-default-sink spk
set-default-source mic
`;
const patienceMs = 20_000;
const run = promisify(execFile);

/** @typedef {Awaited<ReturnType<typeof startSoundServer>>} SoundServer */

/** Whether there is a sound server to test with; says loudly when there is none. */
export function hasSoundServer() {
  const needed = ['pulseaudio', 'pactl', 'parec', 'paplay', 'arecord', 'aplay'];
  const missing = needed.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  if (missing.length > 0) {
    console.warn(`NOT CHECKED: ${missing.join(', ')} not installed; tests of live audio are skipped`);
  }
  return missing.length === 0;
}

/** Whether naudiodon was built when it was installed, which needs a compiler; says loudly when it was not. */
export function hasNaudiodon() {
  const addon = join(import.meta.dirname, '..', '..', 'node_modules/naudiodon/build/Release/naudiodon.node');
  const isBuilt = existsSync(addon);
  if (!isBuilt) console.warn('NOT CHECKED: naudiodon is not built; tests of audio by way of it are skipped');
  return isBuilt;
}

/**
 * A PulseAudio server of its own, with a virtual loudspeaker and a virtual microphone.
 *
 * @param {{ isAwake?: boolean }} [options] `isAwake`: the loudspeaker never sleeps for long, as an idle one does
 */
export async function startSoundServer({ isAwake = false } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'voicectl-sound-'));
  const env = makeSurroundings(dir);
  writeFileSync(join(dir, 'script.pa'), scriptOf(isAwake));
  /** @type {Set<import('node:child_process').ChildProcess>} */
  const children = new Set();
  /** @param {readonly string[]} words @param {'pipe' | 'ignore'} [output] */
  const launch = ([command = '', ...args], output = 'ignore') => {
    const child = spawn(command, args, { env, stdio: ['ignore', output, 'ignore'] });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  const launchServer = async () => {
    const flags = ['--daemonize=no', '--exit-idle-time=-1', '--use-pid-file=no', '-n'];
    const child = launch(['pulseaudio', ...flags, '-F', join(dir, 'script.pa')]);
    await answering(env);
    // It gives its own priority up when it starts.
    putFirst(child);
    return child;
  };
  let server = await launchServer();
  const pidOf = () => /** @type {number} */ (server.pid);
  return {
    /** The environment in which programs find it. */
    env,
    get pid() {
      return pidOf();
    },
    /** Speaks a WAV into the microphone; resolves when all of it was said. @param {string} file */
    async speak(file) {
      await once(launch([...ahead, 'paplay', '--device=micsrc', '--latency-msec=200', file]), 'exit');
    },
    /**
     * Records what a source hears until it is stopped: 16 kHz s16le mono.
     *
     * @param {'spk.monitor' | 'micsrc.monitor'} source
     */
    async record(source) {
      const format = ['--raw', '--format=s16le', '--rate=16000', '--channels=1'];
      const child = launch([...ahead, 'parec', `--device=${source}`, ...format, '--latency-msec=20'], 'pipe');
      const output = /** @type {import('node:stream').Readable} */ (child.stdout);
      /** @type {Buffer[]} */
      const chunks = [];
      output.on('data', (pcm) => chunks.push(pcm));
      await once(output, 'data', { signal: AbortSignal.timeout(patienceMs) });
      return {
        /** So far. */
        heard: () => Buffer.concat(chunks),
        async stop() {
          child.kill();
          if (!output.closed) await once(child, 'close');
          return Buffer.concat(chunks);
        },
      };
    },
    /** Ends it, as a crash does. */
    kill: () => void server.kill('SIGKILL'),
    /** Starts it again at the same place. */
    async start() {
      server = await launchServer();
    },
    /** Stops the server for a while, as a machine that is held up does. @param {number} ms */
    stall: (ms) => stallProcess(pidOf(), ms),
    close() {
      for (const child of children) child.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Folders of its own, in which ALSA and what is built on it reach the server too. @param {string} dir */
function makeSurroundings(dir) {
  const [home, runtime] = [join(dir, 'home'), join(dir, 'run')];
  mkdirSync(home);
  mkdirSync(runtime, { mode: 0o700 });
  writeFileSync(join(home, '.asoundrc'), 'pcm.!default { type pulse }\nctl.!default { type pulse }\n');
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_RUNTIME_DIR: runtime,
    PULSE_RUNTIME_PATH: runtime,
    PATH: process.env.PATH ?? '',
  };
}

/** Resolves when the server answers. @param {Record<string, string>} env */
async function answering(env) {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      await run('pactl', ['info'], { env });
      return;
    } catch (thrown) {
      if (performance.now() > giveUpAt)
        throw new Error('the sound server does not answer', { cause: thrown });
    }
    await sleep(50);
  }
}

/** @param {number} pid @param {number} ms */
export async function stallProcess(pid, ms) {
  try {
    process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    process.kill(pid, 'SIGCONT');
  } catch (thrown) {
    // A process that was replaced in the meantime has ended.
    if (/** @type {NodeJS.ErrnoException} */ (thrown).code !== 'ESRCH') throw thrown;
  }
}
