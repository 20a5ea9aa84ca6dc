import type { Readable } from 'node:stream';
import { type ByteInput, createStreamInput } from '../files/byte-input.ts';
import { openFileInput } from '../files/file-input.ts';
import { refusal } from '../files/refusal.ts';
import { bytesPerSample, msForBytes } from '../protocol/audio-format.ts';
import { wholeSamples } from './blocks.ts';
import { createInputSource, type ReadingPlan } from './input-source.ts';
import { type AudioSource, describeFormat, wireFormat } from './source.ts';
import { isWavForm } from './wav/wav-header.ts';

export interface RawSourceOptions {
  /** Ends the wait for the first bytes. */
  signal?: AbortSignal | undefined;
}

/**
 * A headerless file of 16 kHz s16le mono as a source. An odd last byte is dropped.
 * Errors: `bad-input` (missing, empty, or a WAV file), `input-output`.
 */
export async function openRawFile(path: string, options: RawSourceOptions = {}): Promise<AudioSource> {
  return createInputSource(await openFileInput(path), planRaw, options.signal);
}

/** The same for a stream, such as standard input. Waits for its first bytes. */
export async function openRawStream(
  readable: Readable,
  options: RawSourceOptions & { name?: string | undefined } = {},
): Promise<AudioSource> {
  const input = createStreamInput(readable, options.name ?? 'standard input');
  return createInputSource(input, planRaw, options.signal);
}

async function planRaw(input: ByteInput): Promise<ReadingPlan> {
  const start = await input.read(0, 4);
  if (start.length < bytesPerSample) throw refusal(input.name, 'it has no audio: its length is zero');
  if (isWavForm(start.toString('latin1'))) {
    throw refusal(input.name, 'it is a WAV file, not headerless audio', 'Use --file instead.');
  }
  const { sizeBytes } = input;
  return {
    description: describeFormat(wireFormat),
    durationMs: sizeBytes === undefined ? undefined : msForBytes(sizeBytes - (sizeBytes % bytesPerSample)),
    pcm: (opened) => wholeSamples(opened.chunks(0, Number.POSITIVE_INFINITY)),
  };
}
