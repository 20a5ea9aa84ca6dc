import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';

const needed = ['pulseaudio', 'pactl', 'parec', 'paplay', 'arecord', 'aplay'];

/** Whether there is a sound server to test with; says loudly when there is none. */
export function hasSoundServer(): boolean {
  const missing = needed.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  if (missing.length > 0) {
    console.warn(`NOT CHECKED: ${missing.join(', ')} not installed; tests of live audio are skipped`);
  }
  return missing.length === 0;
}

export interface Recording {
  /** So far. */
  heard(): Buffer;
  stop(): Promise<Buffer>;
}

const patience = { timeout: 20_000, interval: 20 };

/** A sound server of our own, with a virtual microphone and a virtual loudspeaker. */
export interface SoundServer {
  /** The surroundings in which programs find it. */
  readonly env: Record<string, string>;
  /** Speaks a WAV into the microphone; resolves when all of it was said. */
  speak(file: string): Promise<void>;
  /** Records what a source hears until it is stopped: 16 kHz s16le mono. */
  record(source: 'spk.monitor' | 'micsrc.monitor'): Promise<Recording>;
  /** Ends it, as a crash would. */
  kill(): void;
  /** Starts it again, at the same place. */
  start(): Promise<void>;
  close(): void;
}

/** Sound in time on a machine that does other things too: ahead of them, where that is allowed. */
export const ahead = spawnSync('chrt', ['-r', '10', 'true']).status === 0 ? ['chrt', '-r', '10'] : [];

export async function startSoundServer(): Promise<SoundServer> {
  const dir = mkdtempSync(join(tmpdir(), 'voicectl-sound-'));
  const [home, runtime] = [join(dir, 'home'), join(dir, 'run')];
  mkdirSync(home);
  mkdirSync(runtime, { mode: 0o700 });
  // ALSA, and what is built on it, by way of the server.
  writeFileSync(join(home, '.asoundrc'), 'pcm.!default { type pulse }\nctl.!default { type pulse }\n');
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_RUNTIME_DIR: runtime,
    PULSE_RUNTIME_PATH: runtime,
    PATH: process.env.PATH ?? '',
  };
  let server: ChildProcess | undefined;
  const children = new Set<ChildProcess>();
  const launch = (command: string, ...args: string[]) => {
    const [first = command, ...rest] = [...ahead, command, ...args];
    const child = spawn(first, rest, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  const modules = [
    'module-native-protocol-unix',
    'module-null-sink sink_name=spk rate=48000',
    'module-null-sink sink_name=micsrc rate=16000 channels=1',
    'module-virtual-source source_name=mic master=micsrc.monitor',
  ];
  const start = async () => {
    server = launch(
      'pulseaudio',
      ...['--daemonize=no', '--exit-idle-time=-1', '--use-pid-file=no', '-n'],
      ...modules.flatMap((module) => ['-L', module]),
    );
    await vi.waitFor(() => execFileSync('pactl', ['info'], { env, stdio: 'ignore' }), patience);
    execFileSync('pactl', ['set-default-sink', 'spk'], { env });
    execFileSync('pactl', ['set-default-source', 'mic'], { env });
  };
  await start();
  return {
    env,
    start,
    speak: (file) =>
      new Promise((resolve) => {
        launch('paplay', '--device=micsrc', '--latency-msec=200', file).once('exit', () => resolve());
      }),
    async record(source) {
      const format = ['--raw', '--format=s16le', '--rate=16000', '--channels=1'];
      const child = launch('parec', `--device=${source}`, ...format, '--latency-msec=20');
      const chunks: Buffer[] = [];
      child.stdout?.on('data', (pcm: Buffer) => chunks.push(pcm));
      const heard = () => Buffer.concat(chunks);
      await vi.waitFor(() => expect(chunks.length).toBeGreaterThan(0), patience);
      return {
        heard,
        stop: () =>
          new Promise((resolve) => {
            child.once('close', () => resolve(heard()));
            child.kill();
          }),
      };
    },
    kill: () => void server?.kill('SIGKILL'),
    close() {
      for (const child of children) child.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
