import type { Readable, Writable } from 'node:stream';
import { type Clock, systemClock } from './clock.ts';
import { VoicectlError } from './errors.ts';
import { createTerminalDevice, type TerminalDevice } from './terminal-device.ts';

/** A stream that the program writes to, and that tells when it could not. */
export interface OutputStream {
  readonly isTTY: boolean;
  /** How wide the terminal is; undefined where there is none. */
  readonly columns?: number | undefined;
  /** Resolves when the system has taken it. Throws `input-output`: a closed pipe, a full disk. */
  write(data: string | Uint8Array): Promise<void>;
}

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
  /** Calls for each request to end; the result stops that. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Calls for whatever nothing else has caught. */
  onCrash(listener: (thrown: unknown) => void): void;
  /** Ends the process at once. */
  exit(code: number): never;
}

/** The process that we run in. */
export function createProcessIo(): Io {
  return {
    stdin: process.stdin,
    stdout: checkedOutput(process.stdout, 'standard output'),
    stderr: checkedOutput(process.stderr, 'standard error'),
    terminal: createTerminalDevice(process.stdin, process.stdout),
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    onSignal(listener) {
      process.on('SIGINT', listener).on('SIGTERM', listener);
      return () => process.off('SIGINT', listener).off('SIGTERM', listener);
    },
    onCrash: (listener) => process.on('uncaughtException', listener),
    exit: (code) => process.exit(code),
  };
}

function checkedOutput(stream: Writable & { isTTY?: boolean; columns?: number }, name: string): OutputStream {
  // Without a listener a closed pipe would end the process with a stack.
  stream.on('error', () => {});
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    write: (data) =>
      new Promise((resolve, reject) => {
        stream.write(data, (cause) => {
          if (cause)
            reject(new VoicectlError('input-output', `Cannot write to ${name}: ${cause.message}`, { cause }));
          else resolve();
        });
      }),
  };
}
