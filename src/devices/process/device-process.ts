import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Clock } from '../../kernel/clock.ts';
import { cannotStart } from '../device-error.ts';

/** A process that emits or takes PCM, and how to start it. */
export interface DeviceCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Programs have their PCM on standard streams; our device host on descriptor 3, and control lines on 4. */
  readonly pcm: 'stdin' | 'stdout' | 'descriptor';
  /** Lines that tell how far the program is: they are no reason for its end. */
  readonly status?: RegExp | undefined;
}

export interface DeviceProcess {
  /** Emits PCM for capture, takes it for playback. */
  readonly pcm: Duplex | Readable | Writable;
  /** Lines of JSON from and to the device host. */
  readonly control: Duplex | undefined;
  /** Undefined where the system did not start it. */
  readonly pid: number | undefined;
  /** Calls for each line that tells how far the program is. */
  onStatus(listener: (match: RegExpExecArray) => void): void;
  /** Resolves when the process has ended by itself or not, with what is known of why. Never rejects. */
  readonly ended: Promise<string>;
  /** Ends it at once, whatever it still has to do, and resolves when it has ended. */
  kill(): Promise<void>;
  /** Ends it, and resolves when it has: asked first, killed after 300 ms. With `graceMs` it may first finish what it has. */
  stop(graceMs?: number): Promise<void>;
}

/** Of what a native library or program prints; all of it is kept from the terminal. */
const maxChatter = 2_000;
const killAfterMs = 300;
const lastWordsMs = 100;
/** Descriptors of the device host, as it knows them too. */
const [pcmDescriptor, controlDescriptor] = [3, 4];

/** Windows has no process groups. */
const leadsGroup = process.platform !== 'win32';

const running = new Set<ChildProcess>();
let killsAtExit = false;

/**
 * Starts a device's process. A process that cannot be started ends at once, with the reason, or throws `audio-device`
 * where there is not even a process to speak of.
 */
export function startDeviceProcess(command: DeviceCommand, clock: Clock): DeviceProcess {
  const { pcm } = command;
  const hosted = pcm === 'descriptor';
  const child = launch(command);
  killWithUs(child);

  let chatter = '';
  let tellStatus: (match: RegExpExecArray) => void = () => {};
  const listen = (stream: Readable | null) => {
    stream?.on('data', (text: Buffer) => {
      const lines = (chatter + text.toString()).split(/[\r\n]+/);
      const open = lines.pop() ?? '';
      const reasons = lines.filter((line) => {
        const match = command.status?.exec(line);
        if (match) tellStatus(match);
        return !match;
      });
      chatter = [...reasons, open].join('\n').slice(-maxChatter);
    });
  };
  listen(child.stderr);
  if (pcm !== 'stdout') listen(child.stdout);
  for (const stream of child.stdio) stream?.on('error', () => {});

  // The device host says by itself why it fails; what native code prints is about anything.
  const lastWords = () => (hosted ? undefined : lastLine(chatter));
  const ended = new Promise<string>((resolve) => {
    child.once('error', (thrown) => resolve(`cannot be started: ${thrown.message}`));
    child.once('exit', (code, signal) => {
      // What it started may hold its device, and our pipes.
      killGroup(child, 'SIGKILL');
      // Last words may still be on their way.
      const tell = () => {
        resolve(lastWords() ?? howEnded(code, signal));
        for (const stream of child.stdio) stream?.destroy();
      };
      child.once('close', tell);
      clock.after(lastWordsMs, tell, { background: true });
    });
  });
  const control = hosted ? (child.stdio[controlDescriptor] as Duplex) : undefined;
  const streams = {
    stdin: child.stdin,
    stdout: child.stdout,
    descriptor: child.stdio[pcmDescriptor],
  };
  let stopping: Promise<void> | undefined;
  return {
    pcm: streams[pcm] as Duplex,
    control,
    ended,
    pid: child.pid,
    onStatus(listener) {
      tellStatus = listener;
    },
    async kill() {
      killGroup(child, 'SIGKILL');
      await ended;
    },
    stop(graceMs = 0) {
      stopping ??= (async () => {
        child.stdin?.end();
        control?.end();
        const ask = () => killGroup(child, 'SIGTERM');
        const asking = graceMs > 0 ? clock.after(graceMs, ask) : undefined;
        if (asking === undefined) ask();
        const killing = clock.after(graceMs + killAfterMs, () => killGroup(child, 'SIGKILL'));
        await ended;
        asking?.cancel();
        killing.cancel();
      })();
      return stopping;
    },
  };
}

function launch({ command, args, env, pcm }: DeviceCommand): ChildProcess {
  let child: ChildProcess;
  try {
    child = spawn(command, args, {
      stdio: pcm === 'descriptor' ? ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
      env,
      // A terminal's Ctrl-C is for us alone: the device ends when we have finished with it.
      detached: leadsGroup,
      windowsHide: true,
    });
  } catch (thrown) {
    throw cannotStart(thrown);
  }
  // Where no descriptor is left there are no streams, whatever the types say; the error itself comes later.
  const streams: ChildProcess['stdio'] | undefined = child.stdio;
  if (streams !== undefined) return child;
  child.once('error', () => {});
  throw cannotStart('too many open files');
}

/** A hung sound server holds its clients: nothing but this ends them. */
function killWithUs(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
  if (killsAtExit) return;
  killsAtExit = true;
  process.once('exit', () => {
    for (const left of running) killGroup(left, 'SIGKILL');
  });
}

/** A program may be a script that starts the real one: the whole group ends. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || !leadsGroup) {
    child.kill(signal);
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody is left in it.
  }
}

function lastLine(text: string): string | undefined {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .at(-1);
}

function howEnded(code: number | null, signal: NodeJS.Signals | null): string {
  return code === null ? `was ended by ${signal}` : `ended with ${code}`;
}
