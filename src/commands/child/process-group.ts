import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Device } from '../../conformance/drill/device.ts';
import { systemClock, waitUntil } from '../../kernel/clock.ts';
import { cannotRun } from './cannot-run.ts';
import { createLastOutput } from './last-output.ts';
import { findMarked } from './marked-processes.ts';

export interface GroupOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** In the environment of everything that the command starts. */
const mark = 'VOICECTL_DRILL';
/** From SIGTERM to SIGKILL. */
const graceMs = 1_500;
/** The system needs a moment for processes that were killed. */
const goneMs = 1_000;
const lookEveryMs = 20;

/**
 * Starts a command in a process group of its own, with nothing to read; the last of its output is kept. Throws
 * `usage` if it cannot run.
 */
export async function startGroup(
  [command = '', ...args]: readonly string[],
  { cwd, env }: GroupOptions,
): Promise<Device> {
  const id = randomUUID();
  const child = spawn(command, args, {
    cwd,
    env: { ...env, [mark]: id },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(cannotRun(command, cause)));
  });
  const { pid = 0, stdout, stderr } = child;
  const output = createLastOutput(stdout, stderr);
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 0));
  });
  const killAll = () => void signalTo(-pid, 'SIGKILL');
  const forget = killAtExit(killAll);
  let killing: Promise<void> | undefined;

  const kill = async () => {
    signalTo(-pid, 'SIGTERM');
    await until(() => !isThere(-pid), graceMs);
    killAll();
    for (const left of await findMarked(`${mark}=${id}`)) signalTo(left, 'SIGKILL');
    await until(() => !isThere(-pid), goneMs);
    forget();
    output.close();
  };
  return {
    ended,
    stop: () => void signalTo(-pid, 'SIGTERM'),
    kill() {
      killing ??= kill();
      return killing;
    },
    output: output.lines,
  };
}

const atExit = new Set<() => void>();

/** Calls at the exit of this process, when nothing can wait for commands any more, unless the result was called before. */
function killAtExit(kill: () => void): () => void {
  // One listener for all: there are as many commands as situations at the same time.
  if (atExit.size === 0) process.once('exit', killLeft);
  atExit.add(kill);
  return () => {
    atExit.delete(kill);
    if (atExit.size === 0) process.off('exit', killLeft);
  };
}

function killLeft(): void {
  for (const kill of atExit) kill();
}

/** Whether a process, or for a negative number one of a group, is there. */
function isThere(pid: number): boolean {
  return signalTo(pid, 0);
}

/** False if there is none. */
function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Waits for a change that the system does not report, but no longer than `longestMs`. */
async function until(isTrue: () => boolean, longestMs: number): Promise<void> {
  const end = systemClock.now() + longestMs;
  while (!isTrue() && systemClock.now() < end) await waitUntil(systemClock, systemClock.now() + lookEveryMs);
}
