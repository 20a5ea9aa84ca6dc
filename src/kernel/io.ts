import { writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { type Clock, systemClock } from './clock.ts';
import { type ErrorCode, exitCodes, type VoicectlError } from './errors.ts';
import { createKeyboard, type Keyboard } from './keyboard.ts';
import { createOutputStream, type OutputStream } from './output-stream.ts';
import { createTerminalDevice, type TerminalDevice } from './terminal-device.ts';
import { bugsAddress } from './version.ts';

/** The signals that ask the program to end. */
export type EndSignal = keyof typeof endReasons;

/** The program's connections to the outside. `main` takes it as a parameter, so that tests can replace it. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** The keys of standard input, if that is a terminal. */
  readonly keyboard?: Keyboard | undefined;
  /** The terminal, if standard input and standard output both are one. */
  readonly terminal?: TerminalDevice | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working folder; undefined if it was removed. */
  readonly cwd: string | undefined;
  readonly clock: Clock;
  /** Aborted when the program stops waiting for readers of its output: a moment after `hurry`, with its reason. */
  readonly giveUp: AbortSignal;
  /** Called when the program is asked to end: readers have a moment left to take its output. */
  hurry(reason: VoicectlError): void;
  /** Calls the listener for each request to end. Call the result to stop. */
  onSignal(listener: (signal: EndSignal) => void): () => void;
  /** Calls the listener for each uncaught error. */
  onCrash(listener: (thrown: unknown) => void): void;
  /** Ends the process at once. */
  exit(code: number): never;
  /** Ends the process at once, like this signal does by default. */
  die(signal: EndSignal): void;
}

/** How long output may take after the program is asked to end. */
const lastOutputMs = 1_000;

/** How each signal that asks the program to end is reported. */
export const endReasons = {
  SIGINT: { code: 'interrupted', message: 'Interrupted' },
  SIGTERM: { code: 'terminated', message: 'Terminated' },
  SIGHUP: { code: 'hung-up', message: 'The terminal hung up' },
  SIGQUIT: { code: 'quit', message: 'Quit' },
} as const satisfies Record<string, { code: ErrorCode; message: string }>;

const endSignals = Object.keys(endReasons) as EndSignal[];

/** The exit code with which Node ends a process that awaits something that can no longer happen. */
const unsettledExitCode = 13;

function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/** The current process. */
export function createProcessIo(): Io {
  const patience = new AbortController();
  const giveUp = patience.signal;
  process.once('exit', () => {
    // Node sets it in a listener of its own.
    if (process.exitCode !== unsettledExitCode) return;
    writeSync(
      process.stderr.fd,
      `voicectl: The command has not ended, and nothing remains that could end it\n  This is a bug in voicectl. Please report it to ${bugsAddress}\n`,
    );
    process.exitCode = exitCodes.internal;
  });
  return {
    stdin: process.stdin,
    stdout: createOutputStream(process.stdout, 'standard output', giveUp),
    stderr: createOutputStream(process.stderr, 'standard error', giveUp),
    keyboard: createKeyboard(process.stdin),
    terminal: createTerminalDevice(process.stdin, process.stdout, giveUp),
    env: process.env,
    cwd: workingFolder(),
    clock: systemClock,
    giveUp,
    hurry: (reason) =>
      void systemClock.after(lastOutputMs, () => patience.abort(reason), { background: true }),
    onSignal(listener) {
      for (const signal of endSignals) process.on(signal, listener);
      return () => {
        for (const signal of endSignals) process.off(signal, listener);
      };
    },
    onCrash: (listener) => process.on('uncaughtException', listener),
    exit: (code) => process.exit(code),
    die(signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
  };
}
