import type { ReadStream, WriteStream } from 'node:tty';
import { systemClock } from './clock.ts';
import { openOwnTerminal, openTerminal, writeFully, writeSome } from './write-fully.ts';

/** Events from the terminal and the system for a full-screen program. */
export interface TerminalHandlers {
  /** Keys, as the terminal sends them. */
  onInput(text: string): void;
  onResize(): void;
  /** The terminal is gone. */
  onGone(cause: Error): void;
  /** A request to suspend the process (Ctrl-Z). */
  onSuspend(): void;
  /** The process is about to end, for any reason. Asynchronous work no longer runs. */
  onExit(): void;
}

/** The terminal of the system. `ui/` decides what to draw on it, and when. */
export interface TerminalDevice {
  readonly columns: number;
  readonly rows: number;
  /** Switches between single keys without echo and whole lines. */
  setRaw(raw: boolean): void;
  /** Resolves when the terminal has taken the text. A slow terminal delays nothing else. */
  write(text: string): Promise<void>;
  /**
   * Writes synchronously, for moments after which no other code runs. Drops output that still waits,
   * and output that the terminal does not take.
   */
  writeNow(text: string): void;
  listen(handlers: TerminalHandlers): () => void;
  /** Does what Ctrl-C and Ctrl-\ do when keys are not read one by one. */
  raise(signal: 'SIGINT' | 'SIGQUIT'): void;
  /** Suspends the process, with `group` its whole job, like Ctrl-Z; returns when it continues. */
  suspend(options: { group: boolean }): void;
}

/**
 * Signals that end a process at once but that a program can handle. SIGINT, SIGTERM and SIGHUP ask
 * the program to end; after those of a broken process (such as SIGSEGV) no code runs.
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

/** The terminal, if input and output both are one. After `giveUp` aborts, no write waits any longer. */
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
        // The terminal is gone.
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
        // The terminal is gone: nobody sees the text.
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
        // Keep a listener for errors: without one they would end the process.
        stdin.on('error', () => {}).off('error', onGone);
        stdout.off('resize', onResize);
        process.off('SIGTSTP', onSuspend).off('exit', onExit);
        for (const signal of deadlySignals) process.off(signal, onDeadly);
      };
    },
    raise: (signal) => void process.kill(process.pid, signal),
    suspend({ group }) {
      // Without a listener the system suspends the process at once, which is the default.
      if (onStop !== undefined) process.off('SIGTSTP', onStop);
      process.kill(group ? 0 : process.pid, 'SIGTSTP');
      if (onStop !== undefined) process.on('SIGTSTP', onStop);
    },
  };
}
