import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createWavFile, type WavFile } from '../audio/wav/wav-file.ts';
import { openOutputFile } from '../files/output-file.ts';
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
import { createStereo, type StereoPart } from './stereo.ts';
import { createTrack, slackMs } from './track.ts';
import { writeParts } from './write-parts.ts';

/** Most data that waits for the disk before the session has to wait. */
const maxWaitingBytes = 4 * 1024 * 1024;

/** A recording that is being written. Each part waits only for the parts before it. */
export interface BundleWriter {
  wire(line: WireLine): void;
  /** A binary message at time `t`; its bytes must not change. */
  audio(
    direction: Direction,
    t: number,
    pcm: Buffer,
    marks?: Pick<WireLine & { type: 'audio' }, 'injected'>,
  ): void;
  event(event: RecordedEvent): void;
  /** Data that waits for the disk. */
  readonly waitingBytes: number;
  /** Resolves with the first write error, when it happens. */
  readonly failed: Promise<VoicectlError>;
  /** Resolves when little data waits for the disk. Throws `input-output` if the disk is full or fails. */
  taken(): Promise<void>;
  /** Resolves when everything so far is written. Throws the same. */
  settled(): Promise<void>;
  /** Makes both voices end together, at `endMs` or later, writes the summary and closes the files. Throws the first write error. */
  close(endMs: number, summary: object | undefined): Promise<void>;
}

interface Batch {
  /** PCM, or how many bytes of silence. */
  out: (Buffer | number)[];
  in: (Buffer | number)[];
  both: StereoPart[];
  wire: string[];
  events: string[];
  bytes: number;
}

const emptyBatch = (): Batch => ({ out: [], in: [], both: [], wire: [], events: [], bytes: 0 });

/**
 * Makes the folder, for its owner only, and starts the recording. Throws `usage` if the path exists,
 * `input-output` if it cannot be written.
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
      both: keep(await createWavFile(join(folder, recordingFiles.both), { isPrivate: true, channels: 2 })),
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
    throw new VoicectlError('usage', `Cannot record into ${folder}: it exists already`, {
      hint: 'Name a folder that does not exist yet.',
      cause: thrown,
    });
  }
}

interface Files {
  out: WavFile;
  in: WavFile;
  both: WavFile;
  wire: LineFile;
  events: LineFile;
}

function createWriter(folder: string, files: Files): BundleWriter {
  const tracks = { out: createTrack(slackMs.out), in: createTrack(slackMs.in) };
  const stereo = createStereo();
  let waiting = emptyBatch();
  let writingBytes = 0;
  let failure: VoicectlError | undefined;
  let reportFailure: (failure: VoicectlError) => void = () => {};
  const failed = new Promise<VoicectlError>((resolve) => {
    reportFailure = resolve;
  });
  let writing: Promise<void> | undefined;

  /** Audio first: no line refers to bytes that are missing. */
  const write = async (batch: Batch) => {
    for (const voice of ['out', 'in', 'both'] as const) await writeParts(files[voice], batch[voice]);
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
        reportFailure(failure);
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
    failed,
    get waitingBytes() {
      return waiting.bytes + writingBytes;
    },
    wire: (line) => addLine('wire', line),
    event: (event) => addLine('events', event),
    audio(direction, t, pcm, marks = {}) {
      const { at, silenceBytes } = tracks[direction].place(t, pcm.length);
      if (silenceBytes > 0) waiting[direction].push(silenceBytes);
      waiting[direction].push(pcm);
      waiting.both.push(...stereo.add(direction, t, pcm));
      wake(pcm.length);
      addLine('wire', { t, type: 'audio', direction, bytes: pcm.length, at, ...marks });
    },
    async taken() {
      while (failure === undefined && waiting.bytes + writingBytes > maxWaitingBytes) await writing;
      if (failure !== undefined) throw failure;
    },
    async close(endMs, summary) {
      const longest = Math.max(bytesForMs(endMs), tracks.out.endBytes, tracks.in.endBytes);
      // A WAV contains whole samples: half a sample at the end is completed.
      const endBytes = longest + (longest % 2);
      for (const direction of ['out', 'in'] as const) {
        const missing = tracks[direction].fill(endBytes);
        waiting[direction].push(missing);
        wake(missing);
      }
      waiting.both.push(...stereo.end(endMs));
      wake(1);
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

interface LineFile {
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

/** A new text file for its owner only. Throws `input-output`. */
async function openLines(path: string): Promise<LineFile> {
  const file = await openOutputFile(path, { existing: 'refuse', isPrivate: true });
  return {
    append: (text) => (text === '' ? Promise.resolve() : file.write(Buffer.from(text))),
    close: file.close,
  };
}
