import { type OutputFile, openOutputFile } from '../../files/output-file.ts';
import { writeFailure } from '../../files/refusal.ts';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import { createBlockJoiner } from '../blocks.ts';
import { type SampleFormat, wireFormat } from '../source.ts';
import { makeWavHeader, wavHeaderBytes } from './wav-header.ts';

/** How much audio the header may not include after a kill. */
const headerEveryBytes = bytesForMs(800);
/** How long a write may wait for the disk. While one waits longer, further ones are refused. */
const maxWaitMs = 120_000;

/** A WAV file that is being written: 16 kHz s16le. */
export interface WavFile {
  readonly path: string;
  /**
   * Appends PCM of any size; half a sample is carried over to the next call. Resolves once the system has the bytes: await
   * it, so that a slow disk slows the source down. Calls are kept in order; the buffer may be reused afterwards. Rejects with
   * `input-output` if the disk is full or fails, and then also every later call; what was written before stays valid. Also
   * rejects while an earlier call has waited for the disk for more than 2 minutes.
   */
  write(pcm: Buffer): Promise<void>;
  /** Completes the header and closes the file. Rejects with the first failure of any write. May be called again. */
  close(): Promise<void>;
}

export interface WavFileOptions {
  /** Only the user may read it (mode 0600), and the file must not exist yet. */
  isPrivate?: boolean;
  /** 1 by default. */
  channels?: 1 | 2;
  /** Abort it to stop waiting for a reader of a pipe. */
  giveUp?: AbortSignal | undefined;
  clock?: Pick<Clock, 'now'>;
}

/**
 * Creates a WAV file, or empties an existing one. It is always a valid WAV of all audio except the last second, even if the
 * process is killed. A pipe or device gets one header that says "until the end".
 * Errors: `input-output` if it cannot be created.
 */
export async function createWavFile(
  path: string,
  { isPrivate = false, channels = 1, giveUp, clock = systemClock }: WavFileOptions = {},
): Promise<WavFile> {
  const file = await openOutputFile(path, {
    existing: isPrivate ? 'refuse' : 'replace',
    isPrivate,
    giveUp,
  });
  const format = { ...wireFormat, channels };
  try {
    await file.write(makeWavHeader(format, file.isRegular ? 0 : Number.POSITIVE_INFINITY));
    return createWriter(file, { path, format, clock });
  } catch (thrown) {
    await file.close().catch(() => {});
    throw thrown;
  }
}

interface WriterOptions {
  path: string;
  format: SampleFormat;
  clock: Pick<Clock, 'now'>;
}

function createWriter(file: OutputFile, { path, format, clock }: WriterOptions): WavFile {
  let dataBytes = 0;
  let headerDataBytes = 0;
  const samples = createBlockJoiner();
  /** When the write that is waiting for the disk was called. */
  let waitsSince = Number.POSITIVE_INFINITY;
  let failure: VoicectlError | undefined;
  let refused: VoicectlError | undefined;
  let queue: Promise<void> = Promise.resolve();
  let closing: Promise<void> | undefined;

  const writeHeader = async () => {
    if (!file.isRegular || headerDataBytes === dataBytes) return;
    await file.write(makeWavHeader(format, dataBytes), 0);
    headerDataBytes = dataBytes;
  };
  const append = async (pcm: Buffer) => {
    if (failure) throw failure;
    const bytes = samples.push(pcm);
    try {
      for (let offset = 0; offset < bytes.length; ) {
        const part = bytes.subarray(offset, offset + headerEveryBytes);
        await file.write(part, wavHeaderBytes + dataBytes);
        offset += part.length;
        dataBytes += part.length;
        if (dataBytes - headerDataBytes >= headerEveryBytes) await writeHeader();
      }
    } catch (thrown) {
      failure = writeFailure(path, thrown);
      throw failure;
    }
  };
  const finish = async () => {
    const keepFailure = (thrown: unknown) => {
      failure ??= writeFailure(path, thrown);
    };
    await writeHeader().catch(keepFailure);
    await file.close().catch(keepFailure);
    const first = failure ?? refused;
    if (first) throw first;
  };

  const close = () => {
    closing ??= queue.then(finish);
    return closing;
  };

  return {
    path,
    write(pcm) {
      if (closing) return Promise.reject(new VoicectlError('internal', `${path} is already closed`));
      const askedAt = clock.now();
      if (askedAt - waitsSince > maxWaitMs) refused ??= tooSlow(path);
      // If audio is missing, none may follow it.
      if (refused) return Promise.reject(refused);
      const written = queue.then(() => {
        waitsSince = askedAt;
        return append(pcm);
      });
      const done = () => {
        waitsSince = Number.POSITIVE_INFINITY;
      };
      queue = written.then(done, done);
      return written;
    },
    close,
  };
}

function tooSlow(path: string): VoicectlError {
  return new VoicectlError('input-output', `Cannot write ${path}: the disk is slower than the audio`);
}
