import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { constants as system } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFullPipe } from '../helpers/unread-pipe.ts';
import { fixture, program, type Sandbox } from '../helpers/voicectl.ts';

/** What is at the other end of standard output: a reader, somebody who does not read, or nobody any more. */
const outputs = ['read', 'unread', 'closed'] as const;
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const commands = ['stream', 'serve', 'exec', 'replay'] as const;

export interface SignalCase {
  command: (typeof commands)[number];
  signal: (typeof signals)[number];
  output: (typeof outputs)[number];
  /** When the signal is sent, from the start of the process. */
  afterMs: number;
}

export interface SignalEnd extends SignalCase {
  /** As a shell reports it; undefined if the process did not end in time. */
  code: number | undefined;
  /** From the signal to the end. */
  tookMs: number;
  /** Whether a process that it started is still running. */
  isLeft: boolean;
}

/** A process that takes longer counts as not ending. */
const longestMs = 5_000;
/** The last moment: by then every command is doing its work. */
const lastMomentMs = 2_500;

/** Each command and signal at this many moments, the early ones closer together; the outputs alternate. */
export function signalCases(moments: number): SignalCase[] {
  return commands.flatMap((command) =>
    signals.flatMap((signal, first) =>
      Array.from({ length: moments }, (_, index) => ({
        command,
        signal,
        output: outputs[(first + index) % outputs.length] ?? 'read',
        afterMs: Math.round(lastMomentMs * ((index + 1) / moments) ** 2),
      })),
    ),
  );
}

/** Whether it ended in time, with a fitting exit code, and left nothing behind. */
export function isWellEnded({ command, signal, output, code, isLeft }: SignalEnd): boolean {
  const bySignal = 128 + system.signals[signal];
  const serves = command === 'serve' || command === 'replay';
  const codes = [
    bySignal,
    // An emulator runs until it is asked to end.
    ...(serves && signal !== 'SIGHUP' ? [0] : []),
    // The requested output could not be written.
    ...(output !== 'read' && command !== 'exec' ? [8] : []),
  ];
  return code !== undefined && codes.includes(code) && !isLeft;
}

/** Starts a command, sends the signal, and checks what is left. The sandbox contains a recording `session`. */
export async function endBySignal(sandbox: Sandbox, one: SignalCase, name: string): Promise<SignalEnd> {
  const { output, signal, afterMs, command } = one;
  const stdout = output === 'read' ? 'pipe' : openOutput(sandbox, output, name);
  const child = spawn(process.execPath, [program, ...argumentsFor(command)], {
    cwd: sandbox.dir,
    env: { PATH: process.env.PATH, HOME: sandbox.path('home') },
    stdio: ['ignore', stdout, 'ignore'],
    detached: true,
  });
  if (typeof stdout === 'number') closeSync(stdout);
  child.stdout?.resume();
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code, by) => resolve(code ?? 128 + system.signals[by ?? 'SIGKILL']));
  });
  await sleep(afterMs);
  const sentAt = performance.now();
  child.kill(signal);
  const code = await Promise.race([ended, sleep(longestMs, undefined)]);
  const tookMs = performance.now() - sentAt;
  const isLeft = await isGroupLeft(child);
  return { ...one, code, tookMs, isLeft };
}

function argumentsFor(command: SignalCase['command']): string[] {
  if (command === 'stream') return ['stream', '--file', fixture('hello.wav'), '--loop', '--local'];
  if (command === 'serve') return ['serve', '--port', '0'];
  return command === 'exec' ? ['exec', '--', 'sleep', '60'] : ['replay', 'session', '--port', '0'];
}

function openOutput(sandbox: Sandbox, output: 'unread' | 'closed', name: string): number {
  if (output === 'unread') return openSync(makeFullPipe(sandbox, name), constants.O_WRONLY);
  const path = sandbox.path(name);
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  closeSync(reader);
  return writer;
}

/** Whether anything in its process group is still running a moment later; if so, it is ended. */
async function isGroupLeft({ pid = 0 }: ChildProcess): Promise<boolean> {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      process.kill(-pid, 0);
    } catch {
      return false;
    }
    await sleep(25);
  }
  process.kill(-pid, 'SIGKILL');
  return true;
}
