import { types } from 'node:util';
import { VoicectlError } from '../kernel/errors.ts';
import { bytesForMs, msForBytes } from '../protocol/audio-format.ts';
import { groupDigits } from '../protocol/count-text.ts';
import type { AudioSource } from './source.ts';

const defaultMaxMs = 10 * 60_000;

export interface ConvertOptions {
  /** The longest audio to read into memory. Default: 10 minutes, about 19 MB. */
  maxMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Reads a whole source into memory, as 16 kHz s16le mono.
 * Errors: `bad-input` if it is longer than `maxMs`, and the errors of reading the source.
 */
export async function convertToPcm(source: AudioSource, options: ConvertOptions = {}): Promise<Buffer> {
  const maxMs = options.maxMs ?? defaultMaxMs;
  if (source.durationMs !== undefined && source.durationMs > maxMs) throw tooLong(maxMs, source.durationMs);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source.read(options.signal)) {
    bytes += chunk.length;
    if (bytes > bytesForMs(maxMs)) throw tooLong(maxMs, msForBytes(bytes));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

function tooLong(maxMs: number, durationMs: number): VoicectlError {
  const limit = `${groupDigits(maxMs / 1000)} s`;
  return new VoicectlError('bad-input', `The audio is longer than ${limit}, the limit for audio in memory`, {
    hint: 'Use a shorter file.',
    details: { maxMs, durationMs },
  });
}

/** PCM of a program, 16 kHz s16le mono: its bytes or its samples. */
export type Pcm = Uint8Array | Int16Array;

/** Whether this is PCM. Arrays of another realm too: in Jest the globals differ from those of Node's own modules. */
export function isPcm(value: unknown): value is Pcm {
  return types.isUint8Array(value) || types.isInt16Array(value);
}

/** The bytes of PCM, not copied. Throws `usage` for anything else. */
export function pcmBytes(pcm: Pcm): Buffer {
  if (Buffer.isBuffer(pcm)) return pcm;
  if (isPcm(pcm)) return Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  throw new VoicectlError('usage', `PCM must be a Buffer, Uint8Array or Int16Array, not ${kindOf(pcm)}`, {
    hint: 'loadPcm reads a WAV as 16 kHz s16le mono.',
  });
}

function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}
