import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { createWavFile, type WavFile } from '../audio/wav/wav-file.ts';
import { writeFailure } from '../files/refusal.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { jsonLine } from '../kernel/escape.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import {
  type Direction,
  type Manifest,
  type RecordedEvent,
  recordingFiles,
  type WireLine,
} from './format.ts';
import { createTrack } from './track.ts';

/**
 * How late a message may come and still be put right behind the one before. What is sent is one flow of sound, and a
 * sender catches up after a delay of up to 200 ms; what is received is heard as it comes.
 */
const slackMs = { out: 250, in: 60 } as const;
/** What may wait for the disk before the session is held up. */
const maxWaitingBytes = 4 * 1024 * 1024;
const silenceChunk = Buffer.alloc(bytesForMs(1_000));

/** A recording that is being written. Nothing waits longer than the disk takes for what came before it. */
export interface BundleWriter {
  wire(line: WireLine): void;
  /** A binary message, at the time `t`; its bytes must stay as they are. */
  audio(direction: Direction, t: number, pcm: Buffer): void;
  event(event: RecordedEvent): void;
  /** Resolves when little enough waits for the disk. Throws `input-output` where it is full or fails. */
  taken(): Promise<void>;
  /** Resolves when all is written that came so far. Throws the same. */
  settled(): Promise<void>;
  /** Makes both voices end together, at `endMs` or later, writes the summary and closes the files. Throws the first failure of any write. */
  close(endMs: number, summary: object | undefined): Promise<void>;
}

interface Batch {
  /** PCM, or how many bytes of silence. */
  out: (Buffer | number)[];
  in: (Buffer | number)[];
  wire: string[];
  events: string[];
  bytes: number;
}

const emptyBatch = (): Batch => ({ out: [], in: [], wire: [], events: [], bytes: 0 });

/**
 * Makes the folder, for the user alone, and begins the recording. Throws `usage` where something is there already,
 * `input-output` where it cannot be written.
 */
export async function createBundle(folder: string, manifest: Manifest): Promise<BundleWriter> {
  await makeFolder(folder);
  const opened: { close(): Promise<void> }[] = [];
  const keep = <File extends { close(): Promise<void> }>(file: File) => {
    opened.push(file);
    return file;
  };
  try {
    const manifestFile = await openLines(join(folder, recordingFiles.manifest));
    await manifestFile.append(`${JSON.stringify(manifest, undefined, 2)}\n`);
    await manifestFile.close();
    return createWriter(folder, {
      out: keep(await createWavFile(join(folder, recordingFiles.out), { isPrivate: true })),
      in: keep(await createWavFile(join(folder, recordingFiles.in), { isPrivate: true })),
      wire: keep(await openLines(join(folder, recordingFiles.wire))),
      events: keep(await openLines(join(folder, recordingFiles.events))),
    });
  } catch (thrown) {
    await Promise.allSettled(opened.map((file) => file.close()));
    throw writeFailure(folder, thrown);
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (thrown) {
    const failure = writeFailure(folder, thrown);
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw failure;
    throw new VoicectlError('usage', `Cannot record into ${folder}: it is there already`, {
      hint: 'Name a folder that does not exist yet.',
      cause: thrown,
    });
  }
}

interface Files {
  out: WavFile;
  in: WavFile;
  wire: LineFile;
  events: LineFile;
}

function createWriter(folder: string, files: Files): BundleWriter {
  const tracks = { out: createTrack(slackMs.out), in: createTrack(slackMs.in) };
  let waiting = emptyBatch();
  let writingBytes = 0;
  let failure: VoicectlError | undefined;
  let writing: Promise<void> | undefined;

  /** Audio first: no line tells of bytes that are not there. */
  const write = async (batch: Batch) => {
    for (const direction of ['out', 'in'] as const) await writeAudio(files[direction], batch[direction]);
    await files.wire.append(batch.wire.join(''));
    await files.events.append(batch.events.join(''));
  };
  const writeAll = async () => {
    while (waiting.bytes > 0 && failure === undefined) {
      const batch = waiting;
      waiting = emptyBatch();
      writingBytes = batch.bytes;
      await write(batch).catch((thrown) => {
        failure = writeFailure(folder, thrown);
      });
      writingBytes = 0;
    }
    writing = undefined;
  };
  const wake = (bytes: number) => {
    waiting.bytes += bytes;
    if (failure !== undefined) waiting = emptyBatch();
    else writing ??= Promise.resolve().then(writeAll);
  };
  const addLine = (kind: 'wire' | 'events', value: object) => {
    const line = jsonLine(value);
    waiting[kind].push(line);
    wake(line.length);
  };
  const settled = async () => {
    while (writing !== undefined) await writing;
    if (failure !== undefined) throw failure;
  };

  return {
    settled,
    wire: (line) => addLine('wire', line),
    event: (event) => addLine('events', event),
    audio(direction, t, pcm) {
      const { at, silenceBytes } = tracks[direction].place(t, pcm.length);
      if (silenceBytes > 0) waiting[direction].push(silenceBytes);
      waiting[direction].push(pcm);
      wake(pcm.length);
      addLine('wire', { t, type: 'audio', direction, bytes: pcm.length, at });
    },
    async taken() {
      while (failure === undefined && waiting.bytes + writingBytes > maxWaitingBytes) await writing;
      if (failure !== undefined) throw failure;
    },
    async close(endMs, summary) {
      const longest = Math.max(bytesForMs(endMs), tracks.out.endBytes, tracks.in.endBytes);
      // A WAV holds whole samples: half a one at the end is filled up.
      const endBytes = longest + (longest % 2);
      for (const direction of ['out', 'in'] as const) {
        const missing = endBytes - tracks[direction].endBytes;
        if (missing > 0) waiting[direction].push(missing);
        wake(missing);
      }
      await settled().catch(() => {});
      const closings = await Promise.allSettled(Object.values(files).map((file) => file.close()));
      if (failure !== undefined) throw failure;
      for (const closing of closings) if (closing.status === 'rejected') throw closing.reason;
      if (summary !== undefined) await writeSummary(folder, jsonLine(summary));
    },
  };
}

async function writeSummary(folder: string, line: string): Promise<void> {
  const file = await openLines(join(folder, recordingFiles.summary));
  try {
    await file.append(line);
  } finally {
    await file.close();
  }
}

async function writeAudio(file: WavFile, parts: readonly (Buffer | number)[]): Promise<void> {
  let pcm: Buffer[] = [];
  for (const part of parts) {
    if (typeof part !== 'number') {
      pcm.push(part);
      continue;
    }
    await file.write(Buffer.concat(pcm));
    pcm = [];
    for (let left = part; left > 0; left -= silenceChunk.length) {
      await file.write(silenceChunk.subarray(0, Math.min(left, silenceChunk.length)));
    }
  }
  await file.write(Buffer.concat(pcm));
}

interface LineFile {
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

/** A new text file for the user alone. Errors: `input-output`. */
async function openLines(path: string): Promise<LineFile> {
  const fail = (thrown: unknown) => {
    throw writeFailure(path, thrown);
  };
  const handle: FileHandle = await open(path, 'ax', 0o600).catch(fail);
  return {
    append: (text) => (text === '' ? Promise.resolve() : handle.appendFile(text).catch(fail)),
    close: () => handle.close().catch(fail),
  };
}
