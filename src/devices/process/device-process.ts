import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Clock } from '../../kernel/clock.ts';
import { system } from '../../kernel/system.ts';
import { cannotStart } from '../device-error.ts';

/** A process that emits or takes PCM, and how to start it. */
export interface DeviceCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the PCM is: programs use standard streams; the device host uses descriptor 3, with control lines on 4. */
  readonly pcm: 'stdin' | 'stdout' | 'descriptor';
  /** Matches lines of progress, which are not the reason why a program ends. */
  readonly status?: RegExp | undefined;
}

export interface DeviceProcess {
  /** Emits PCM for capture, takes it for playback. */
  readonly pcm: Duplex | Readable | Writable;
  /** Lines of JSON from and to the device host. */
  readonly control: Duplex | undefined;
  /** Undefined if the system could not start it. */
  readonly pid: number | undefined;
  /** Calls `listener` for each line of progress. */
  onStatus(listener: (match: RegExpExecArray) => void): void;
  /** Resolves with the reason when the process has ended. Never rejects. */
  readonly ended: Promise<string>;
  /** Kills it, and resolves when it has ended. */
  kill(): Promise<void>;
  /** Asks it to end, kills it after 300 ms, and resolves when it has ended. With `graceMs` it can finish its audio first. */
  stop(graceMs?: number): Promise<void>;
}

/** How much text that a library or program prints is kept. None of it reaches the terminal. */
const maxChatter = 2_000;
const killAfterMs = 300;
const lastWordsMs = 100;
/** Descriptors of the device host. */
const [pcmDescriptor, controlDescriptor] = [3, 4];

const running = new Set<ChildProcess>();
let killsAtExit = false;

/**
 * Starts the process of a device. If the command cannot be started, the process ends at once with the reason. Throws
 * `audio-device` if the system refuses to create one.
 */
export function startDeviceProcess(command: DeviceCommand, clock: Clock): DeviceProcess {
  const { pcm } = command;
  const hosted = pcm === 'descriptor';
  const child = launch(command);
  killWithUs(child);

  let chatter = '';
  let emitStatus: (match: RegExpExecArray) => void = () => {};
  const listen = (stream: Readable | null) => {
    stream?.on('data', (text: Buffer) => {
      const lines = (chatter + text.toString()).split(/[\r\n]+/);
      const open = lines.pop() ?? '';
      const reasons = lines.filter((line) => {
        const match = command.status?.exec(line);
        if (match) emitStatus(match);
        return !match;
      });
      chatter = [...reasons, open].join('\n').slice(-maxChatter);
    });
  };
  listen(child.stderr);
  if (pcm !== 'stdout') listen(child.stdout);
  for (const stream of child.stdio) stream?.on('error', () => {});

  // The device host reports itself why it fails. Text that native code prints may be about anything.
  const lastWords = () => (hosted ? undefined : lastReason(chatter, command.status));
  const ended = new Promise<string>((resolve) => {
    child.once('error', (thrown) => resolve(`cannot be started: ${thrown.message}`));
    child.once('exit', (code, signal) => {
      // Its children may still hold the device and the pipes.
      killGroup(child, 'SIGKILL');
      // The last lines may still arrive.
      const settle = () => {
        resolve(lastWords() ?? howEnded(code, signal));
        for (const stream of child.stdio) stream?.destroy();
      };
      child.once('close', settle);
      clock.after(lastWordsMs, settle, { background: true });
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
      emitStatus = listener;
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
      // Ctrl-C is only for this process, which ends the device when it has finished.
      detached: system.hasProcessGroups,
      windowsHide: true,
    });
  } catch (thrown) {
    throw cannotStart(thrown);
  }
  // If there are no free descriptors, there are no streams, contrary to the types. The error comes later.
  const streams: ChildProcess['stdio'] | undefined = child.stdio;
  if (streams !== undefined) return child;
  child.once('error', () => {});
  throw cannotStart('too many open files');
}

/** Kills the process when this one exits: if a sound server hangs, its clients do not end otherwise. */
function killWithUs(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
  if (killsAtExit) return;
  killsAtExit = true;
  process.once('exit', () => {
    for (const left of running) killGroup(left, 'SIGKILL');
  });
}

/** Ends the whole group, because a program may be a script that starts the real one. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || !system.hasProcessGroups) {
    child.kill(signal);
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has already ended.
  }
}

/** The last line that is not progress. */
function lastReason(text: string, status: RegExp | undefined): string | undefined {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !status?.test(line))
    .at(-1);
}

function howEnded(code: number | null, signal: NodeJS.Signals | null): string {
  return code === null ? `was ended by ${signal}` : `ended with ${code}`;
}
