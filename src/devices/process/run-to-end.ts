import type { Readable } from 'node:stream';
import { systemClock } from '../../kernel/clock.ts';
import { startCommand } from '../../kernel/command-process.ts';
import { createDeferred } from '../../kernel/promises.ts';
import { cannotStart } from '../device-error.ts';

export interface RunToEndOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Ends the program; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** The program is ended if it takes longer. */
  limitMs: number;
}

interface EndedProgram {
  /** Whether it ended by itself with exit code 0. */
  isGood: boolean;
  stdout: string;
  stderr: string;
}

/** Longer output is cut: no list of devices is that long. */
const maxBytes = 16 * 1024 * 1024;

/** Runs a program of the sound system to its end, or ends it and everything that it started. Throws `audio-device`. */
export async function runToEnd(
  command: string,
  args: readonly string[],
  { env, signal, limitMs }: RunToEndOptions,
): Promise<EndedProgram> {
  signal?.throwIfAborted();
  const running = startCommand(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr } = running.child;
  const texts = [collectText(stdout), collectText(stderr)] as const;
  const stopped = createDeferred<undefined>();
  const stop = () => stopped.resolve(undefined);
  const limit = systemClock.after(limitMs, stop);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await running.started;
    const closed = new Promise<void>((resolve) => running.child.once('close', () => resolve()));
    const end = await Promise.race([Promise.all([running.ended, closed]), stopped.promise]);
    await running.end();
    signal?.throwIfAborted();
    return { isGood: end?.[0].code === 0, stdout: texts[0](), stderr: texts[1]() };
  } catch (thrown) {
    signal?.throwIfAborted();
    throw cannotStart(thrown);
  } finally {
    limit.cancel();
    signal?.removeEventListener('abort', stop);
  }
}

function collectText(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString();
}
