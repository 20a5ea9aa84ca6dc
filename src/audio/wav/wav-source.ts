import type { Readable } from 'node:stream';
import type { Reader } from 'wav';
import { type ByteInput, createStreamInput } from '../../files/byte-input.ts';
import { openFileInput } from '../../files/file-input.ts';
import { convertHint, refusal } from '../../files/refusal.ts';
import { findShippedSound } from '../../files/shipped-file.ts';
import { sampleRate } from '../../protocol/audio-format.ts';
import { countText } from '../../protocol/count-text.ts';
import { wholeSamples } from '../blocks.ts';
import { createMonoDecoder } from '../decode.ts';
import { encodeS16le } from '../encode.ts';
import { recogniseForeignFile } from '../foreign-file.ts';
import { createInputSource, type ReadingPlan } from '../input-source.ts';
import { createResampler } from '../resample.ts';
import { type AudioSource, describeFormat, type SampleFormat, wireFormat } from '../source.ts';
import { type ConvertOptions, convertToPcm } from '../whole-pcm.ts';
import { formatChunkBytes, parseFormat, type WavFormat } from './wav-format.ts';
import { isWavForm, makeWavHeader } from './wav-header.ts';

export interface WavSourceOptions {
  /** Refuses audio that is not 16 kHz, 16-bit, mono, instead of converting it. */
  strictFormat?: boolean | undefined;
  /** Takes only this channel of a stereo file. */
  only?: 'left' | 'right' | undefined;
  /** Ends the wait for the header. */
  signal?: AbortSignal | undefined;
}

/**
 * A WAV file as a source of 16 kHz s16le mono. 16 kHz, 16-bit, mono passes byte for byte; anything else is mixed to mono and
 * resampled while it is read. A path of a pipe or device is read as a stream. A name that is not a file here may be the name
 * of an included sound, such as `hello.wav`.
 * Errors: `bad-input` (missing, not a WAV, not readable here, no audio, refused by `strictFormat`), `input-output`.
 */
export async function openWavFile(path: string, options: WavSourceOptions = {}): Promise<AudioSource> {
  const input = await openFileInput(await findShippedSound(path));
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
 * Reads a whole WAV file into memory as 16 kHz s16le mono, such as a reply that is read once at the start.
 * Errors: those of `openWavFile`, and `bad-input` if it is longer than `maxMs` (10 minutes), or not stereo with `only`.
 */
export async function loadPcm(
  path: string,
  options: ConvertOptions & Pick<WavSourceOptions, 'only'> = {},
): Promise<Buffer> {
  return convertToPcm(await openWavFile(path, { signal: options.signal, only: options.only }), options);
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
  if (options.only !== undefined && format.channels !== 2)
    throw refusal(input.name, `it has ${countText(format.channels, 'channel')}, but must have 2`);
  return {
    description,
    durationMs:
      dataBytes === undefined ? undefined : (dataBytes / format.blockBytes / format.sampleRate) * 1000,
    pcm(opened) {
      const audio = readThroughWav(format, opened.chunks(dataOffset, dataBytes ?? Number.POSITIVE_INFINITY));
      return description.converted ? convert(audio, format, options.only) : wholeSamples(audio);
    },
  };
}

async function* convert(
  audio: AsyncIterable<Buffer>,
  format: WavFormat,
  only: WavSourceOptions['only'],
): AsyncGenerator<Buffer> {
  const decode = createMonoDecoder(format, only === undefined ? undefined : only === 'left' ? 0 : 1);
  const resampler = createResampler(format.sampleRate, sampleRate);
  for await (const bytes of audio) {
    const samples = resampler.push(decode(bytes));
    if (samples.length > 0) yield encodeS16le(samples);
  }
  const rest = resampler.flush();
  if (rest.length > 0) yield encodeS16le(rest);
}

/**
 * Reads the audio of a WAV through `wav.Reader`, which is given a plain 44-byte header and then `data`, the bytes of the data
 * range: by itself it fails on many well-formed files (wav 1.0.2: chunks before `fmt `, odd sizes, RF64, EXTENSIBLE). It is
 * an old-style stream without `destroy`, so it is driven by hand, a chunk in and a chunk out: it never holds more than one
 * chunk, and nothing is left open if the loop ends early.
 */
async function* readThroughWav(format: SampleFormat, data: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Loaded here because it is large, and most emulators read no files.
  const { default: wav } = await import('wav');
  const reader = new wav.Reader();
  const write = (bytes: Buffer) =>
    new Promise<void>((resolve, reject) => {
      reader.write(bytes, (error) => (error ? reject(error) : resolve()));
    });

  // For the reader a size of 0 means "until the end".
  await write(makeWavHeader(format, 0));
  for await (const bytes of data) {
    await write(bytes);
    for (let audio = readAudio(reader); audio; audio = readAudio(reader)) yield audio;
  }
}

function readAudio(reader: Reader): Buffer | undefined {
  const audio: unknown = reader.read();
  return Buffer.isBuffer(audio) ? audio : undefined;
}

/** Position and format of the audio of a WAV. */
interface WavLayout {
  readonly format: WavFormat;
  readonly dataOffset: number;
  /** Whole blocks only. Undefined: until the stream ends. */
  readonly dataBytes: number | undefined;
}

interface DataRange {
  offset: number;
  /** Undefined: until the end of the input. */
  bytes: number | undefined;
}

/** Common chunks. They distinguish a chunk from a padding byte, or from audio. */
const knownIds = new Set([
  'fmt ',
  'data',
  'fact',
  'LIST',
  'JUNK',
  'junk',
  'PAD ',
  'bext',
  'cue ',
  'smpl',
  'id3 ',
]);
/** More chunks than any real file has before its audio: a limit for endless rows of empty chunks. */
const maxChunks = 4096;

/**
 * Finds the format and the audio of a RIFF, RF64 or BW64 WAV by walking through its chunks, in any order, padded or not.
 * Sizes that cannot be true (0, placeholders, beyond the end) mean "until the end".
 * In a stream the format has to come before the audio, and bytes before the audio are skipped.
 * Errors: `bad-input` with the reason.
 */
export async function probeWav(input: ByteInput): Promise<WavLayout> {
  await expectWave(input);
  let format: WavFormat | undefined;
  let data: DataRange | undefined;
  let longDataBytes: number | undefined;
  let offset = 12;

  for (let count = 0; count < maxChunks && !(format && data); count += 1) {
    const header = await input.read(offset, 8);
    if (header.length < 8) break;
    const id = header.toString('latin1', 0, 4);
    const declaredBytes = header.readUInt32LE(4);
    const body = offset + 8;
    let bodyBytes: number | undefined = declaredBytes;
    if (id === 'ds64') {
      longDataBytes = parseLongDataBytes(await input.read(body, Math.min(declaredBytes, 28)));
    } else if (id === 'fmt ' && !format) {
      const chunk = await input.read(body, Math.min(declaredBytes, formatChunkBytes));
      format = parseFormat(chunk, declaredBytes, input.name);
    } else if (id === 'data' && !data) {
      data = await findDataRange(input, body, declaredBytes, longDataBytes);
      bodyBytes = data.bytes;
    }
    if (bodyBytes === undefined || (data && input.sizeBytes === undefined)) break;
    offset = await nextChunk(input, body, bodyBytes);
  }

  if (format && data) return layOut(format, data);
  throw refusal(input.name, missingPart(input, format, data), convertHint);
}

async function expectWave(input: ByteInput): Promise<void> {
  const start = await input.read(0, 12);
  if (start.length === 0) throw refusal(input.name, 'it is empty');
  if (isWavForm(start.toString('latin1', 0, 4))) {
    if (start.length < 12) throw refusal(input.name, 'the file ends within its header');
    if (start.toString('latin1', 8, 12) === 'WAVE') return;
  }
  const foreign = recogniseForeignFile(start)?.format;
  throw refusal(
    input.name,
    foreign ? `it is ${foreign}, not a WAV file` : 'it is not a WAV file',
    foreign ? convertHint : 'Use --raw for headerless 16 kHz 16-bit mono audio.',
  );
}

/** EBU Tech 3306: RIFF size, data size and sample count with 64 bits each, then a table. */
function parseLongDataBytes(ds64: Buffer): number | undefined {
  if (ds64.length < 16) return undefined;
  const bytes = Number(ds64.readBigUInt64LE(8));
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

async function findDataRange(
  input: ByteInput,
  offset: number,
  declaredBytes: number,
  longDataBytes: number | undefined,
): Promise<DataRange> {
  const left = input.sizeBytes === undefined ? undefined : Math.max(0, input.sizeBytes - offset);
  const declared = declaredBytes === 0xffffffff && longDataBytes ? longDataBytes : declaredBytes;
  if (declared === 0 && (await isChunk(input, offset))) return { offset, bytes: 0 };
  if (isPlaceholder(declared)) return { offset, bytes: left };
  return { offset, bytes: left === undefined ? declared : Math.min(declared, left) };
}

/** Whether a chunk begins here, and not audio: one that is common, or any that ends where the file does. */
async function isChunk(input: ByteInput, offset: number): Promise<boolean> {
  const head = await input.read(offset, 8);
  const id = head.toString('latin1', 0, 4);
  if (knownIds.has(id)) return true;
  if (head.length < 8 || !/^[\x20-\x7e]{4}$/.test(id)) return false;
  const bytes = head.readUInt32LE(4);
  const end = offset + 8 + bytes + (bytes % 2);
  return end === input.sizeBytes || end - (bytes % 2) === input.sizeBytes;
}

/**
 * Sizes written before the length was known: 0, 0xFFFFFFFF (ffmpeg), a little below it (the wav package),
 * 0x7FFFF000 (sox), 0x7FFFFFFF or 0x80000000 and thereabouts (arecord, GStreamer).
 */
function isPlaceholder(declaredBytes: number): boolean {
  if (declaredBytes === 0) return true;
  if (declaredBytes >= 0x7ffff000 && declaredBytes <= 0x80000000) return true;
  return declaredBytes >= 0xffffff00 && declaredBytes <= 0xffffffff;
}

/** Chunks begin at even offsets, but some writers omit the padding byte after a chunk of odd size. */
async function nextChunk(input: ByteInput, body: number, bodyBytes: number): Promise<number> {
  const end = body + bodyBytes;
  if (bodyBytes % 2 === 0) return end;
  const unpadded = knownIds.has((await input.read(end, 4)).toString('latin1'));
  return unpadded ? end : end + 1;
}

function layOut(format: WavFormat, data: DataRange): WavLayout {
  const dataBytes = data.bytes === undefined ? undefined : data.bytes - (data.bytes % format.blockBytes);
  return { format, dataOffset: data.offset, dataBytes };
}

function missingPart(input: ByteInput, format: WavFormat | undefined, data: DataRange | undefined): string {
  if (format) return 'it has no audio (no "data" chunk), or it is cut off before it';
  if (!data) return 'the file ends within its header';
  if (input.sizeBytes === undefined) {
    return 'its format comes after its audio, which cannot be read from a stream; use a file';
  }
  return 'it does not say how its audio is encoded (no "fmt " chunk)';
}
