import type { Writable } from 'node:stream';
import { systemClock } from './clock.ts';
import { VoicectlError } from './errors.ts';
import { openTerminal, writeFully } from './write-fully.ts';

/** A stream that the program writes to, and that reports failures. */
export interface OutputStream {
  readonly isTTY: boolean;
  /** Width of the terminal; undefined without one. */
  readonly columns?: number | undefined;
  /**
   * Resolves when the system has taken the text. Throws `input-output` (a full disk), `closed-pipe`, or the reason
   * of `giveUp`.
   */
  write(data: string | Uint8Array): Promise<void>;
}

type Standard = Writable & { fd: number; isTTY?: boolean; columns?: number };

/** After `giveUp` a normal reader still gets the last lines, because they take no time. */
const lastMomentMs = 200;

/**
 * A standard stream of the process. After `giveUp` aborts, unread output is lost: every waiting write rejects
 * with the reason, and so does every later one.
 */
export function createOutputStream(stream: Standard, name: string, giveUp: AbortSignal): OutputStream {
  // Without a listener a closed pipe would end the process with a stack.
  stream.on('error', () => {});
  const writeAll = stream.isTTY ? writeByTerminal(stream) : writeByStream(stream);
  const waiting = new Set<() => void>();
  let isLost = false;
  const lose = () => {
    isLost ||= waiting.size > 0;
    for (const reject of waiting) reject();
  };
  giveUp.addEventListener('abort', lose, { once: true });
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    async write(data) {
      if (isLost) throw giveUp.reason;
      const lastMoment = giveUp.aborted ? systemClock.after(lastMomentMs, lose) : undefined;
      let stop = () => {};
      const lost = new Promise<never>((_, reject) => {
        stop = () => reject(giveUp.reason);
      });
      waiting.add(stop);
      try {
        await Promise.race([lost, writeAll(data, giveUp)]);
      } catch (thrown) {
        throw thrown === giveUp.reason ? thrown : outputFailure(name, thrown);
      } finally {
        waiting.delete(stop);
        lastMoment?.cancel();
      }
    },
  };
}

type WriteAll = (data: string | Uint8Array, giveUp: AbortSignal) => Promise<unknown>;

const writeByStream =
  (stream: Standard): WriteAll =>
  (data) =>
    new Promise<void>((resolve, reject) => {
      stream.write(data, (cause) => (cause ? reject(cause) : resolve()));
    });

/** Node's writes to a stopped terminal (Ctrl-S) block the whole process, even its signals. */
function writeByTerminal(stream: Standard): WriteAll {
  const fd = openTerminal(stream.fd);
  if (fd === undefined) return writeByStream(stream);
  let last: Promise<unknown> = Promise.resolve();
  return (data, giveUp) => {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    last = last.catch(() => {}).then(() => writeFully(fd, bytes, () => giveUp.aborted));
    return last;
  };
}

function outputFailure(name: string, thrown: unknown): VoicectlError {
  const cause = thrown as NodeJS.ErrnoException;
  const isClosed = cause.code === 'EPIPE' || cause.code === 'ECONNRESET';
  return new VoicectlError(
    isClosed ? 'closed-pipe' : 'input-output',
    `Cannot write to ${name}: ${cause.message}`,
    { cause },
  );
}
