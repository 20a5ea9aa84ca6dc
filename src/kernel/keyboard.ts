import { StringDecoder } from 'node:string_decoder';
import type { ReadStream } from 'node:tty';

/** Events from the terminal and the system for a program that reads keys one by one. */
export interface KeyboardHandlers {
  /** Keys, as the terminal sends them. */
  onInput(text: string): void;
  /** The terminal is gone. */
  onGone(cause: Error): void;
  /** A request to suspend the process (Ctrl-Z). */
  onSuspend(): void;
  /** The process is about to end, for any reason. Asynchronous work no longer runs. */
  onExit(): void;
}

/** The keys of a terminal. */
export interface Keyboard {
  /** Switches between single keys without echo and whole lines. */
  setRaw(raw: boolean): void;
  listen(handlers: KeyboardHandlers): () => void;
  /** Does what Ctrl-C and Ctrl-\ do when keys are not read one by one. */
  raise(signal: 'SIGINT' | 'SIGQUIT'): void;
  /** Suspends the process, with `group` its whole job, like Ctrl-Z; returns when it continues. */
  suspend(options: { group: boolean }): void;
}

/**
 * Signals that end a process at once but that a program can handle. SIGINT, SIGTERM, SIGHUP and SIGQUIT ask
 * the program to end; after the signals of a crashed process (such as SIGSEGV) no code runs.
 */
const deadlySignals = [
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

/** The keys of standard input; undefined if that is not a terminal. */
export function createKeyboard(stdin: ReadStream): Keyboard | undefined {
  if (!stdin.isTTY) return undefined;
  let onStop: (() => void) | undefined;
  return {
    setRaw(raw) {
      try {
        stdin.setRawMode(raw);
      } catch {
        // The terminal is gone.
      }
    },
    listen({ onInput, onGone, onSuspend, onExit }) {
      // A read may end within a character.
      const decoder = new StringDecoder();
      const onData = (chunk: Buffer | string) =>
        onInput(typeof chunk === 'string' ? chunk : decoder.write(chunk));
      const onEnd = () => onGone(new Error('it was closed'));
      const onDeadly = (signal: NodeJS.Signals) => {
        onExit();
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      };
      onStop = onSuspend;
      stdin.on('data', onData).on('end', onEnd).on('error', onGone);
      process.on('SIGTSTP', onSuspend).on('exit', onExit);
      for (const signal of deadlySignals) process.on(signal, onDeadly);
      return () => {
        onStop = undefined;
        stdin.off('data', onData).off('end', onEnd).pause();
        // Keep a listener for errors: without one they would end the process.
        stdin.on('error', () => {}).off('error', onGone);
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

const ctrlC = '\u0003';
const ctrlZ = '\u001a';
const ctrlBackslash = '\u001c';

/** In raw mode the terminal sends no signals: handles Ctrl-C, Ctrl-Z and Ctrl-\ itself, and passes on all other keys. */
export function passKeys(
  text: string,
  { keyboard, suspend, onKeys }: { keyboard: Keyboard; suspend: () => void; onKeys: (text: string) => void },
): void {
  for (const keys of text.match(/[\u0003\u001a\u001c]|[^\u0003\u001a\u001c]+/g) ?? []) {
    if (keys === ctrlC) keyboard.raise('SIGINT');
    else if (keys === ctrlBackslash) keyboard.raise('SIGQUIT');
    else if (keys === ctrlZ) suspend();
    else onKeys(keys);
  }
}
