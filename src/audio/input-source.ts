import type { ByteInput } from '../files/byte-input.ts';
import { openFileInput } from '../files/file-input.ts';
import { refusal } from '../files/refusal.ts';
import type { AudioSource, SourceFormat } from './source.ts';

/** What the beginning of an input says, and how to read the rest. */
export interface ReadingPlan {
  readonly description: SourceFormat;
  readonly durationMs: number | undefined;
  /** Reads 16 kHz s16le mono from an input with the same bytes. */
  pcm(input: ByteInput): AsyncIterable<Buffer>;
}

/**
 * An input as a source. A file is closed here and reopened for each reading; a stream stays open and is read once. If the plan
 * fails or the signal aborts, the input is closed.
 */
export async function createInputSource(
  input: ByteInput,
  makePlan: (input: ByteInput) => Promise<ReadingPlan>,
  signal?: AbortSignal,
): Promise<AudioSource> {
  const release = closeOnAbort(input, signal);
  let plan: ReadingPlan;
  try {
    signal?.throwIfAborted();
    plan = await makePlan(input);
    signal?.throwIfAborted();
  } catch (thrown) {
    await input.close();
    throw signal?.aborted ? signal.reason : thrown;
  } finally {
    release();
  }

  const { description, durationMs } = plan;
  if (input.sizeBytes !== undefined) {
    await input.close();
    return {
      description,
      durationMs,
      repeatable: true,
      async *read(readSignal) {
        yield* readInput(await openFileInput(input.name), plan, readSignal);
      },
    };
  }
  let started = false;
  return {
    description,
    durationMs,
    repeatable: false,
    async *read(readSignal) {
      if (started) throw refusal(input.name, 'it is a stream and has already been read');
      started = true;
      yield* readInput(input, plan, readSignal);
    },
  };
}

async function* readInput(
  input: ByteInput,
  plan: ReadingPlan,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const release = closeOnAbort(input, signal);
  try {
    signal?.throwIfAborted();
    for await (const pcm of plan.pcm(input)) {
      yield pcm;
      signal?.throwIfAborted();
    }
    signal?.throwIfAborted();
  } catch (thrown) {
    throw signal?.aborted ? signal.reason : thrown;
  } finally {
    release();
    await input.close();
  }
}

/** Closes the input on an abort, which also ends a read that waits for a stream. Call the result to stop that. */
function closeOnAbort(input: ByteInput, signal: AbortSignal | undefined): () => void {
  const close = () => void input.close();
  signal?.addEventListener('abort', close, { once: true });
  return () => signal?.removeEventListener('abort', close);
}
