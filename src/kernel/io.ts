import type { Readable } from 'node:stream';
import { type Clock, systemClock } from './clock.ts';
import type { VoicectlError } from './errors.ts';
import { createOutputStream, type OutputStream } from './output-stream.ts';
import { createTerminalDevice, type TerminalDevice } from './terminal-device.ts';

/** The signals that ask the program to end. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Everything through which the program meets the world: passed to `main`, so that tests can stand in for it. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** What standard input and standard output are, where both are a terminal. */
  readonly terminal?: TerminalDevice | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Aborted when nobody waits any longer for output that nobody takes: a moment after `hurry`, with its reason. */
  readonly giveUp: AbortSignal;
  /** The program is asked to end: output has a moment left to be taken. */
  hurry(reason: VoicectlError): void;
  /** Calls for each request to end; the result stops that. */
  onSignal(listener: (signal: EndSignal) => void): () => void;
  /** Calls for whatever nothing else has caught. */
  onCrash(listener: (thrown: unknown) => void): void;
  /** Ends the process at once. */
  exit(code: number): never;
  /** Ends the process at once, as this signal does where nobody listens for it. */
  die(signal: EndSignal): void;
}

/** How long output may take once the program was asked to end. */
const lastOutputMs = 1_000;
const endSignals: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The process that we run in. */
export function createProcessIo(): Io {
  const patience = new AbortController();
  const giveUp = patience.signal;
  return {
    stdin: process.stdin,
    stdout: createOutputStream(process.stdout, 'standard output', giveUp),
    stderr: createOutputStream(process.stderr, 'standard error', giveUp),
    terminal: createTerminalDevice(process.stdin, process.stdout, giveUp),
    env: process.env,
    cwd: process.cwd(),
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
