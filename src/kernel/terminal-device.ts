import type { ReadStream, WriteStream } from 'node:tty';
import { systemClock } from './clock.ts';
import { createKeyboard, type Keyboard, type KeyboardHandlers } from './keyboard.ts';
import { againAfterMs, openOwnTerminal, openTerminal, writeFully, writeSome } from './write-fully.ts';

/** Events from the terminal and the system for a full-screen program. */
export interface TerminalHandlers extends KeyboardHandlers {
  onResize(): void;
}

/** The terminal of the system. `ui/` decides what to draw on it, and when. */
export interface TerminalDevice extends Keyboard {
  readonly columns: number;
  readonly rows: number;
  /** Resolves when the terminal has taken the text. A slow terminal delays nothing else. */
  write(text: string): Promise<void>;
  /**
   * Writes synchronously, for moments after which no other code runs. Drops output that still waits,
   * and output that the terminal does not take.
   */
  writeNow(text: string): void;
  listen(handlers: TerminalHandlers): () => void;
}

/** How long a terminal may take for `writeNow`. */
const lastWriteMs = 300;

/** Nothing ever wakes what waits on it. */
const pause = new Int32Array(new SharedArrayBuffer(4));

/** The terminal, if input and output both are one. After `giveUp` aborts, no write waits any longer. */
export function createTerminalDevice(
  stdin: ReadStream,
  stdout: WriteStream & { fd: number },
  giveUp: AbortSignal,
): TerminalDevice | undefined {
  const keyboard = createKeyboard(stdin);
  if (keyboard === undefined || !stdout.isTTY) return undefined;
  const fd = openTerminal(stdout.fd) ?? openOwnTerminal() ?? stdout.fd;
  let drops = 0;
  return {
    ...keyboard,
    get columns() {
      return stdout.columns;
    },
    get rows() {
      return stdout.rows;
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
        while (rest.length > 0 && systemClock.now() < until) {
          rest = writeSome(fd, rest);
          // The terminal may need this processor to read.
          if (rest.length > 0) Atomics.wait(pause, 0, 0, againAfterMs);
        }
      } catch {
        // The terminal is gone: nobody sees the text.
      }
    },
    listen({ onResize, ...handlers }) {
      const stop = keyboard.listen(handlers);
      stdout.on('resize', onResize);
      return () => {
        stop();
        stdout.off('resize', onResize);
      };
    },
  };
}
