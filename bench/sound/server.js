import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const modules = [
  'module-native-protocol-unix',
  'module-null-sink sink_name=spk rate=48000',
  'module-null-sink sink_name=micsrc rate=16000 channels=1',
  'module-virtual-source source_name=mic master=micsrc.monitor',
];

/** Starts a program ahead of whatever else the machine does, where that is allowed. */
export const ahead = spawnSync('chrt', ['-r', '10', 'true']).status === 0 ? ['chrt', '-r', '10'] : [];

/** A PulseAudio server of its own, with a virtual loudspeaker and a virtual microphone. */
export async function startSoundServer() {
  const dir = mkdtempSync(join(tmpdir(), 'voicectl-bench-sound-'));
  const [home, runtime] = [join(dir, 'home'), join(dir, 'run')];
  mkdirSync(home);
  mkdirSync(runtime, { mode: 0o700 });
  writeFileSync(join(home, '.asoundrc'), 'pcm.!default { type pulse }\nctl.!default { type pulse }\n');
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_RUNTIME_DIR: runtime,
    PULSE_RUNTIME_PATH: runtime,
    PATH: process.env.PATH ?? '',
  };
  const flags = ['--daemonize=no', '--exit-idle-time=-1', '--use-pid-file=no', '-n'];
  const launch = () =>
    spawn('pulseaudio', [...flags, ...modules.flatMap((module) => ['-L', module])], { env, stdio: 'ignore' });
  let child = launch();
  const ready = async () => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        execFileSync('pactl', ['info'], { env, stdio: 'ignore' });
        break;
      } catch (thrown) {
        if (attempt === 50) throw thrown;
        await sleep(100);
      }
    }
    execFileSync('pactl', ['set-default-sink', 'spk'], { env });
    execFileSync('pactl', ['set-default-source', 'mic'], { env });
    // It gives its own priority up when it starts.
    if (ahead.length > 0) spawnSync('chrt', ['-a', '-r', '-p', '20', String(child.pid)]);
  };
  await ready();
  return {
    env,
    pid: /** @type {number} */ (child.pid),
    /** Ends it, as a crash does. */
    kill: () => void child.kill('SIGKILL'),
    /** Starts it again at the same place. */
    async start() {
      child = launch();
      await ready();
    },
    /** Stops the server for a while, as a machine that is held up does. @param {number} ms */
    async stall(ms) {
      await stallProcess(/** @type {number} */ (child.pid), ms);
    },
    close() {
      child.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** @param {number} pid @param {number} ms */
export async function stallProcess(pid, ms) {
  process.kill(pid, 'SIGSTOP');
  await sleep(ms);
  process.kill(pid, 'SIGCONT');
}
