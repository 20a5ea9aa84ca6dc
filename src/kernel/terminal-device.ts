import type { ReadStream, WriteStream } from 'node:tty';
import { systemClock } from './clock.ts';
import { openOwnTerminal, openTerminal, writeFully, writeSome } from './write-fully.ts';

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
  /**
   * Writes before it returns, for moments after which nothing is done any more. What still waits to be written is
   * dropped, and so is what a terminal that nobody reads does not take.
   */
  writeNow(text: string): void;
  listen(handlers: TerminalHandlers): () => void;
  /** What Ctrl-C and Ctrl-\ do where keys are not read one by one. */
  raise(signal: 'SIGINT' | 'SIGQUIT'): void;
  /** Stops the process, with `group` all those of its job, as Ctrl-Z does; returns when it goes on. */
  suspend(options: { group: boolean }): void;
}

/**
 * Signals that end a process at once and that a program can still do something about. SIGINT, SIGTERM and SIGHUP ask
 * the program itself; those of a broken process (SIGSEGV and the like) leave nothing to run.
 */
const deadlySignals = [
  'SIGQUIT',
  'SIGABRT',
  'SIGALRM',
  'SIGUSR2',
  'SIGVTALRM',
  'SIGXCPU',
  'SIGIO',
  'SIGPWR',
  'SIGSTKFLT',
  'SIGSYS',
] as const satisfies NodeJS.Signals[];

/** How long a terminal may take for `writeNow`. */
const lastWriteMs = 200;

/** The terminal at both ends; undefined where either is none. Once `giveUp` is aborted no write waits any longer. */
export function createTerminalDevice(
  stdin: ReadStream,
  stdout: WriteStream & { fd: number },
  giveUp: AbortSignal,
): TerminalDevice | undefined {
  if (!stdin.isTTY || !stdout.isTTY) return undefined;
  const fd = openTerminal(stdout.fd) ?? openOwnTerminal() ?? stdout.fd;
  let drops = 0;
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
    async write(text) {
      const before = drops;
      await writeFully(fd, Buffer.from(text), () => giveUp.aborted || drops > before);
    },
    writeNow(text) {
      drops += 1;
      const until = systemClock.now() + lastWriteMs;
      try {
        let rest: Uint8Array = Buffer.from(text);
        while (rest.length > 0 && systemClock.now() < until) rest = writeSome(fd, rest);
      } catch {
        // There is nobody left to see it.
      }
    },
    listen({ onInput, onResize, onGone, onSuspend, onExit }) {
      const onData = (chunk: Buffer | string) => onInput(chunk.toString());
      const onEnd = () => onGone(new Error('it was closed'));
      const onDeadly = (signal: NodeJS.Signals) => {
        onExit();
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      };
      onStop = onSuspend;
      stdin.on('data', onData).on('end', onEnd).on('error', onGone);
      stdout.on('resize', onResize);
      process.on('SIGTSTP', onSuspend).on('exit', onExit);
      for (const signal of deadlySignals) process.on(signal, onDeadly);
      return () => {
        onStop = undefined;
        stdin.off('data', onData).off('end', onEnd).pause();
        // Errors keep a listener: without one they would end the process.
        stdin.on('error', () => {}).off('error', onGone);
        stdout.off('resize', onResize);
        process.off('SIGTSTP', onSuspend).off('exit', onExit);
        for (const signal of deadlySignals) process.off(signal, onDeadly);
      };
    },
    raise: (signal) => void process.kill(process.pid, signal),
    suspend({ group }) {
      // Without a listener the system does what it does by default: stop the process here and now.
      if (onStop !== undefined) process.off('SIGTSTP', onStop);
      process.kill(group ? 0 : process.pid, 'SIGTSTP');
      if (onStop !== undefined) process.on('SIGTSTP', onStop);
    },
  };
}
