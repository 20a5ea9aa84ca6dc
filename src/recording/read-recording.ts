import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type * as z from 'zod';
import { wireFormat } from '../audio/source.ts';
import { makeWavHeader, wavHeaderBytes } from '../audio/wav/wav-header.ts';
import { loadPcm, openWavFile } from '../audio/wav/wav-source.ts';
import { recordingFiles } from '../files/recording-files.ts';
import { readFailure, refusal, systemCode } from '../files/refusal.ts';
import { bytesPerSample, msForBytes } from '../protocol/audio-format.ts';
import { countText } from '../protocol/count-text.ts';
import { parseJson } from '../protocol/parse-json.ts';
import {
  type Direction,
  type Manifest,
  manifestSchema,
  type RecordedEvent,
  type RecordedSummary,
  recordedEventSchema,
  schemaVersion,
  summarySchema,
  type WireLine,
  wireSchema,
} from './format.ts';

/** The readable parts of a recording. */
export interface Recording {
  folder: string;
  /** Set for a WAV that is not one of our recordings. */
  isCall?: true;
  /** Undefined if the recording ended before the manifest was written. */
  manifest: Manifest | undefined;
  events: RecordedEvent[];
  wire: WireLine[];
  /** Data of the WAVs, on the time axis: byte 0 is `t` 0. */
  audio: Record<Direction, Buffer>;
  /** Undefined if the recording is incomplete, or if the summary cannot be read. */
  summary: RecordedSummary | undefined;
  /** The end of the recording on the time axis. */
  durationMs: number;
  /** What is missing or cannot be understood, as sentences. */
  problems: string[];
}

/**
 * Reads a recording, even one that broke off at any moment: incomplete parts are left out and listed in `problems`. Throws
 * `bad-input` for a folder that is not a recording, or for a later format; `input-output` if reading fails.
 */
export async function readRecording(folder: string): Promise<Recording> {
  await expectRecording(folder);
  const problems: string[] = [];
  const read: Read = { folder, problems };
  const manifest = await readObject(read, recordingFiles.manifest, manifestSchema);
  const events = (await readLines(read, recordingFiles.events, recordedEventSchema)) as RecordedEvent[];
  const lines = await readLines(read, recordingFiles.wire, wireSchema);
  const audio = { out: await readWav(read, recordingFiles.out), in: await readWav(read, recordingFiles.in) };
  const wire = lines.filter(
    (line) => line.type !== 'audio' || line.at + line.bytes <= audio[line.direction].length,
  );
  if (wire.length < lines.length)
    problems.push(`${countText(lines.length - wire.length, 'audio message')} not found in the WAVs`);
  const summary = await readObject(read, recordingFiles.summary, summarySchema);
  const lastAt = [events.at(-1)?.t ?? 0, wire.at(-1)?.t ?? 0];
  return {
    folder,
    manifest,
    events,
    wire,
    audio,
    summary: summary as RecordedSummary | undefined,
    durationMs: Math.max(...lastAt, msForBytes(audio.out.length), msForBytes(audio.in.length)),
    problems,
  };
}

/** An hour. */
const longestCallMs = 60 * 60_000;

/**
 * Reads a WAV of any rate as a recording that consists only of audio: the user left, the AI right; `swap`: the other way
 * round. A mono WAV is the AI's. Throws `bad-input` for another file, or if it is longer than an hour.
 */
export async function readCall(path: string, { swap }: { swap: boolean }): Promise<Recording> {
  const read = (only?: 'left' | 'right') => loadPcm(path, { only, maxMs: longestCallMs });
  const { channels } = (await openWavFile(path)).description;
  if (channels > 2) throw refusal(path, `it has ${channels} channels, but must have 1 or 2`);
  const isMono = channels === 1;
  if (isMono && swap) throw refusal(path, 'it has 1 channel, and --swap needs 2');
  const audio = isMono
    ? { out: Buffer.alloc(0), in: await read() }
    : { out: await read(swap ? 'right' : 'left'), in: await read(swap ? 'left' : 'right') };
  const durationMs = Math.max(msForBytes(audio.out.length), msForBytes(audio.in.length));
  return {
    folder: path,
    isCall: true,
    manifest: undefined,
    events: [],
    wire: [],
    audio,
    summary: undefined,
    durationMs,
    problems: [],
  };
}

interface Read {
  folder: string;
  problems: string[];
}

/** A folder without a manifest may be a recording that ended at once, unless it contains other files. */
async function expectRecording(folder: string): Promise<void> {
  const names = await readdir(folder).catch((thrown) => {
    const notAFolder = systemCode(thrown) === 'ENOTDIR';
    throw notAFolder
      ? refusal(folder, 'it is not a recording: a recording is a folder')
      : readFailure(folder, thrown);
  });
  const ours: readonly string[] = Object.values(recordingFiles);
  if (names.includes(recordingFiles.manifest) || names.every((name) => ours.includes(name))) return;
  throw refusal(folder, `it is not a recording: it contains no ${recordingFiles.manifest}`);
}

async function readObject<Schema extends z.ZodType>(
  { folder, problems }: Read,
  name: string,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  const bytes = await readWhole(folder, name);
  if (bytes === undefined) {
    problems.push(`There is no ${name}: the recording is incomplete`);
    return undefined;
  }
  const value = parseJson(bytes.toString());
  const made = (value as { schema?: unknown } | undefined)?.schema;
  if (name === recordingFiles.manifest && typeof made === 'number' && made > schemaVersion)
    throw refusal(
      folder,
      `its format is version ${made}, but this voicectl reads version ${schemaVersion}`,
      'Use a newer voicectl.',
    );
  const parsed = schema.safeParse(value);
  if (!parsed.success) problems.push(`${name} is incomplete or damaged`);
  return parsed.data;
}

async function readLines<Schema extends z.ZodType>(
  { folder, problems }: Read,
  name: string,
  schema: Schema,
): Promise<z.output<Schema>[]> {
  const lines = ((await readWhole(folder, name)) ?? '').toString().split('\n');
  if (lines.pop() !== '') problems.push(`The last line of ${name} is incomplete and was ignored`);
  const found = lines.map((line) => schema.safeParse(parseJson(line)));
  const missing = found.filter(({ success }) => !success).length;
  if (missing > 0)
    problems.push(
      `${countText(missing, 'line')} of ${name} could not be understood and ${missing === 1 ? 'was' : 'were'} ignored`,
    );
  return found.flatMap(({ success, data }) => (success ? [data as z.output<Schema>] : []));
}

/** Reads the whole file: after a kill there may be more audio than the header says. */
async function readWav({ folder, problems }: Read, name: string): Promise<Buffer> {
  const bytes = (await readWhole(folder, name)) ?? Buffer.alloc(0);
  const isOurs = hasOurHeader(bytes);
  if (!isOurs && bytes.length > 0)
    problems.push(`${name} is damaged, or another program has written it: its audio is left out`);
  const pcm = bytes.subarray(isOurs ? wavHeaderBytes : bytes.length);
  return pcm.subarray(0, pcm.length - (pcm.length % bytesPerSample));
}

/** Whether a WAV begins as ours does. Only the sizes differ. */
function hasOurHeader(bytes: Buffer): boolean {
  if (bytes.length < wavHeaderBytes) return false;
  const withoutSizes = (header: Buffer) => Buffer.concat([header.subarray(0, 4), header.subarray(8, 40)]);
  return withoutSizes(bytes).equals(withoutSizes(makeWavHeader(wireFormat, 0)));
}

/** Undefined if the file does not exist. */
async function readWhole(folder: string, name: string): Promise<Buffer | undefined> {
  const path = join(folder, name);
  try {
    // Reading a pipe without a writer would block this process forever, even at its end.
    if (!(await stat(path)).isFile()) throw refusal(path, 'it is not a file');
    return await readFile(path);
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return undefined;
    throw readFailure(path, thrown);
  }
}
