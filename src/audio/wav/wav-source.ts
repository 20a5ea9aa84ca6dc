import type { Readable } from 'node:stream';
import type { Reader } from 'wav';
import { type ByteInput, createStreamInput } from '../../files/byte-input.ts';
import { openFileInput } from '../../files/file-input.ts';
import { convertHint, refusal } from '../../files/refusal.ts';
import { findSound } from '../../files/shipped-file.ts';
import { sampleRate } from '../../protocol/audio-format.ts';
import { type ConvertOptions, convertToPcm } from '../convert-to-pcm.ts';
import { createMonoDecoder } from '../decode.ts';
import { encodeS16le } from '../encode.ts';
import { createInputSource, type ReadingPlan } from '../input-source.ts';
import { createResampler } from '../resample.ts';
import type { AudioSource, SampleFormat } from '../source.ts';
import { describeFormat, wireFormat } from '../source-format.ts';
import { wholeSamples } from '../whole-samples.ts';
import type { WavFormat } from './wav-format.ts';
import { makeWavHeader } from './wav-header.ts';
import { probeWav } from './wav-probe.ts';

export interface WavSourceOptions {
  /** Refuse audio that is not 16 kHz, 16-bit, mono, instead of converting it. */
  strictFormat?: boolean | undefined;
  /** Ends the wait for the header. */
  signal?: AbortSignal | undefined;
}

/**
 * A WAV file as a source of 16 kHz s16le mono. 16 kHz, 16-bit, mono passes byte for byte, anything else is mixed
 * to mono and resampled as it is read. A path that is a pipe or device is read as a stream; a name that is no file here
 * may be that of a shipped sound, such as `hello.wav`.
 * Errors: `bad-input` (missing, not a WAV, not readable here, no audio, refused by `strictFormat`), `input-output`.
 */
export async function openWavFile(path: string, options: WavSourceOptions = {}): Promise<AudioSource> {
  const input = await openFileInput(await findSound(path));
  return createInputSource(input, (opened) => planWav(opened, options), options.signal);
}

/** The same for a stream that cannot go back, such as standard input. Waits for the header and the first sample. */
export async function openWavStream(
  readable: Readable,
  options: WavSourceOptions & { name?: string | undefined } = {},
): Promise<AudioSource> {
  const input = createStreamInput(readable, options.name ?? 'standard input');
  return createInputSource(input, (opened) => planWav(opened, options), options.signal);
}

/**
 * Reads a whole WAV file into memory, as 16 kHz s16le mono: for a reply that is read once, at the start.
 * Errors: those of `openWavFile`, and `bad-input` if it is longer than `maxMs` (10 minutes).
 */
export async function loadPcm(path: string, options: ConvertOptions = {}): Promise<Buffer> {
  return convertToPcm(await openWavFile(path, { signal: options.signal }), options);
}

async function planWav(input: ByteInput, options: WavSourceOptions): Promise<ReadingPlan> {
  const layout = await probeWav(input);
  const { format, dataOffset, dataBytes } = layout;
  const firstBlock = await input.read(
    dataOffset,
    Math.min(format.blockBytes, dataBytes ?? format.blockBytes),
  );
  if (firstBlock.length < format.blockBytes) throw refusal(input.name, 'it has no audio: its length is zero');
  const description = describeFormat(format);
  if (options.strictFormat && description.converted) {
    const wanted = describeFormat(wireFormat).text;
    throw refusal(input.name, `it is ${description.text}, but must be ${wanted}`, convertHint);
  }
  return {
    description,
    durationMs:
      dataBytes === undefined ? undefined : (dataBytes / format.blockBytes / format.sampleRate) * 1000,
    pcm(opened) {
      const audio = readThroughWav(format, opened.chunks(dataOffset, dataBytes ?? Number.POSITIVE_INFINITY));
      return description.converted ? convert(audio, format) : wholeSamples(audio);
    },
  };
}

async function* convert(audio: AsyncIterable<Buffer>, format: WavFormat): AsyncGenerator<Buffer> {
  const decode = createMonoDecoder(format);
  const resampler = createResampler(format.sampleRate, sampleRate);
  for await (const bytes of audio) {
    const samples = resampler.push(decode(bytes));
    if (samples.length > 0) yield encodeS16le(samples);
  }
  const rest = resampler.flush();
  if (rest.length > 0) yield encodeS16le(rest);
}

/**
 * The audio of a WAV by way of `wav.Reader`, which is given a plain 44-byte header and then `data`, the
 * bytes of the data range: by itself it fails on many well-formed files (wav 1.0.2: chunks before `fmt `, odd
 * sizes, RF64, EXTENSIBLE). It is an old-style stream without `destroy`, so it is driven by hand, a chunk in and
 * a chunk out: it never holds more than one chunk, and nothing is left open when the loop ends early.
 */
async function* readThroughWav(format: SampleFormat, data: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // What it needs is much, and most emulators read no file.
  const { default: wav } = await import('wav');
  const reader = new wav.Reader();
  const write = (bytes: Buffer) =>
    new Promise<void>((resolve, reject) => {
      reader.write(bytes, (error) => (error ? reject(error) : resolve()));
    });

  // To the reader a size of 0 means "until the end".
  await write(makeWavHeader(format, 0));
  for await (const bytes of data) {
    await write(bytes);
    for (let audio = take(reader); audio; audio = take(reader)) yield audio;
  }
}

function take(reader: Reader): Buffer | undefined {
  const audio: unknown = reader.read();
  return Buffer.isBuffer(audio) ? audio : undefined;
}
