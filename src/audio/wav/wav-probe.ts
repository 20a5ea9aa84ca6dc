import type { ByteInput } from '../../files/byte-input.ts';
import { convertHint, refusal } from '../../files/refusal.ts';
import { formatChunkBytes, parseFormat, type WavFormat } from './wav-format.ts';

/** Position and format of the audio of a WAV. */
export interface WavLayout {
  readonly format: WavFormat;
  readonly dataOffset: number;
  /** Whole blocks only. Undefined: until a stream ends. */
  readonly dataBytes: number | undefined;
}

interface DataRange {
  offset: number;
  /** Undefined: until the end of the input. */
  bytes: number | undefined;
}

/** Chunks that commonly stand beside the audio: they tell a chunk from a byte of padding, or from audio. */
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
/** More chunks before the audio than any real file has: the limit for an endless row of empty ones. */
const maxChunks = 4096;

/**
 * Finds format and audio of a RIFF, RF64 or BW64 WAV by walking its chunks, in any order, padded or not.
 * Sizes that cannot be true (0, streamed, beyond the end) mean "as far as there is audio".
 * In a stream the format has to come before the audio, and bytes up to the audio are skipped.
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
  const form = start.toString('latin1', 0, 4);
  if (form === 'RIFF' || form === 'RF64' || form === 'BW64') {
    if (start.length < 12) throw refusal(input.name, 'the file ends within its header');
    if (start.toString('latin1', 8, 12) === 'WAVE') return;
  }
  const foreign = recognizeForeignFormat(start);
  throw refusal(
    input.name,
    foreign ? `it is ${foreign}, not a WAV file` : 'it is not a WAV file',
    foreign ? convertHint : 'Use --raw for headerless 16 kHz 16-bit mono audio.',
  );
}

/** EBU Tech 3306: RIFF size, data size and sample count, 64 bits each, then a table. */
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
  if (declared === 0 && knownIds.has((await input.read(offset, 4)).toString('latin1'))) {
    return { offset, bytes: 0 };
  }
  if (isPlaceholder(declared)) return { offset, bytes: left };
  return { offset, bytes: left === undefined ? declared : Math.min(declared, left) };
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

/** Chunks begin at even offsets, but some writers forget the byte of padding after an odd one. */
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
  if (format) return 'it has no audio (no "data" chunk), or it ends before it';
  if (!data) return 'the file ends within its header';
  if (input.sizeBytes === undefined) {
    return 'its format comes after its audio, which a stream does not allow; give it as a file';
  }
  return 'it does not say how its audio is encoded (no "fmt " chunk)';
}

/** First bytes of formats that users mistake for WAV. */
const signatures: readonly { at: number; text: string; format: string }[] = [
  { at: 0, text: 'ID3', format: 'an MP3 file' },
  { at: 0, text: '\xff\xfb', format: 'an MP3 file' },
  { at: 0, text: '\xff\xf3', format: 'an MP3 file' },
  { at: 0, text: '\xff\xf1', format: 'an AAC file' },
  { at: 0, text: 'OggS', format: 'an Ogg file' },
  { at: 0, text: 'fLaC', format: 'a FLAC file' },
  { at: 0, text: 'FORM', format: 'an AIFF file' },
  { at: 0, text: '.snd', format: 'a Sun/NeXT .au file' },
  { at: 0, text: 'caff', format: 'a Core Audio file' },
  { at: 0, text: '#!AMR', format: 'an AMR file' },
  { at: 4, text: 'ftyp', format: 'an MP4 file' },
  { at: 0, text: '\x1a\x45\xdf\xa3', format: 'a Matroska or WebM file' },
  { at: 0, text: 'riff\x2e\x91\xcf\x11', format: 'a Sony Wave64 file' },
  { at: 0, text: 'RIFX', format: 'a big-endian WAV file (RIFX)' },
];

/** What a file is by its first bytes, such as "an MP3 file"; undefined if they do not show it. */
function recognizeForeignFormat(start: Buffer): string | undefined {
  const text = start.toString('latin1');
  return signatures.find((entry) => text.startsWith(entry.text, entry.at))?.format;
}
