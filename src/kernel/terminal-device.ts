import { write, writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import { systemClock } from './clock.ts';

/** What a terminal and the system tell a program that has the whole screen. */
export interface TerminalHandlers {
  /** Keys, as the terminal sends them. */
  onInput(text: string): void;
  onResize(): void;
  /** The terminal is there no longer. */
  onGone(cause: Error): void;
  /** Somebody asks the process to stop for a while. */
  onSuspend(): void;
  /** The process is about to end, however it came to that: nothing that waits is done any more. */
  onExit(): void;
}

/** A terminal as the system gives it: what is drawn on it, and when, is for `ui/` to say. */
export interface TerminalDevice {
  readonly columns: number;
  readonly rows: number;
  /** Keys one by one and without echo; or, as before, whole lines. */
  setRaw(raw: boolean): void;
  /** Resolves when the terminal has taken it. A slow terminal holds up nothing else. */
  write(text: string): Promise<void>;
  /** Returns when the terminal has taken it: for moments after which nothing is done any more. */
  writeNow(text: string): void;
  listen(handlers: TerminalHandlers): () => void;
  /** What Ctrl-C does where keys are not read one by one. */
  interrupt(): void;
  /** Stops the process, with `group` all those of its job, as Ctrl-Z does; returns when it goes on. */
  suspend(options: { group: boolean }): void;
}

/** The terminal at both ends; undefined where either is none. */
export function createTerminalDevice(
  stdin: ReadStream,
  stdout: WriteStream & { fd: number },
): TerminalDevice | undefined {
  if (!stdin.isTTY || !stdout.isTTY) return undefined;
  let onStop: (() => void) | undefined;
  return {
    get columns() {
      return stdout.columns;
    },
    get rows() {
      return stdout.rows;
    },
    setRaw(raw) {
      try {
        stdin.setRawMode(raw);
      } catch {
        // A terminal that is gone has no mode.
      }
    },
    // Writing to a terminal by its stream blocks the process for as long as the terminal likes.
    write: (text) => writeAll(stdout.fd, Buffer.from(text)),
    writeNow(text) {
      try {
        writeSync(stdout.fd, text);
      } catch {
        // There is nobody left to see it.
      }
    },
    listen({ onInput, onResize, onGone, onSuspend, onExit }) {
      const onData = (chunk: Buffer | string) => onInput(chunk.toString());
      const onEnd = () => onGone(new Error('it was closed'));
      onStop = onSuspend;
      stdin.on('data', onData).on('end', onEnd).on('error', onGone);
      stdout.on('resize', onResize);
      process.on('SIGTSTP', onSuspend).on('exit', onExit);
      return () => {
        onStop = undefined;
        stdin.off('data', onData).off('end', onEnd).pause();
        // Errors keep a listener: without one they would end the process.
        stdin.on('error', () => {}).off('error', onGone);
        stdout.off('resize', onResize);
        process.off('SIGTSTP', onSuspend).off('exit', onExit);
      };
    },
    interrupt: () => void process.kill(process.pid, 'SIGINT'),
    suspend({ group }) {
      // Without a listener the system does what it does by default: stop the process here and now.
      if (onStop !== undefined) process.off('SIGTSTP', onStop);
      process.kill(group ? 0 : process.pid, 'SIGTSTP');
      if (onStop !== undefined) process.on('SIGTSTP', onStop);
    },
  };
}

/** Where the terminal takes no more for now, and says so in place of waiting. */
const againAfterMs = 5;

function writeAll(fd: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (rest: Buffer) => {
      write(fd, rest, (error, written) => {
        if (error?.code === 'EAGAIN') systemClock.after(againAfterMs, () => next(rest));
        else if (error) reject(error);
        else if (written < rest.length) next(rest.subarray(written));
        else resolve();
      });
    };
    next(bytes);
  });
}
