import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createWavFile, type WavFile } from '../audio/wav/wav-file.ts';
import { openOutputFile, writeText } from '../files/output-file.ts';
import { recordingFiles } from '../files/recording-files.ts';
import { writeFailure } from '../files/refusal.ts';
import { toVoicectlError, VoicectlError } from '../kernel/errors.ts';
import { jsonLine } from '../kernel/escape.ts';
import { createDiskQueue, type DiskQueue } from './disk-queue.ts';
import type { Direction, Manifest, RecordedEvent, WireLine } from './format.ts';
import { createVoiceFiles } from './voice-files.ts';

/** A recording that is being written. Each part waits only for the parts before it. */
export interface BundleWriter extends Omit<DiskQueue, 'added' | 'hasFailed'> {
  wire(line: WireLine): void;
  /** A binary message at time `t`; its bytes must not change. */
  audio(
    direction: Direction,
    t: number,
    pcm: Buffer,
    marks?: Pick<WireLine & { type: 'audio' }, 'injected'>,
  ): void;
  /** The service cancels AI audio that was not yet heard at time `t`. */
  interrupted(t: number): void;
  event(event: RecordedEvent): void;
  /** Ends both voices together, at `endMs` or later, writes the summary and closes the files. Throws the first write error. */
  close(endMs: number, summary: object | undefined): Promise<void>;
}

const newAndPrivate = { existing: 'refuse', isPrivate: true } as const;

/**
 * Creates the folder, for its owner only, and starts the recording. Throws `usage` if the path exists, `input-output` if it
 * cannot be written.
 */
export async function createBundle(folder: string, manifest: Manifest): Promise<BundleWriter> {
  await makeFolder(folder);
  const opened: { close(): Promise<void> }[] = [];
  const keep = <File extends { close(): Promise<void> }>(file: File) => {
    opened.push(file);
    return file;
  };
  try {
    await writeText(
      join(folder, recordingFiles.manifest),
      `${JSON.stringify(manifest, undefined, 2)}\n`,
      newAndPrivate,
    );
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
    throw new VoicectlError('usage', `Cannot record into ${folder}: it already exists`, {
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
  const voices = createVoiceFiles(files);
  let lines: Record<'wire' | 'events', string[]> = { wire: [], events: [] };
  const queue = createDiskQueue(
    async () => {
      const batch = lines;
      lines = { wire: [], events: [] };
      // Audio first, so that no line refers to missing bytes.
      await voices.write();
      await files.wire.append(batch.wire.join(''));
      await files.events.append(batch.events.join(''));
    },
    (thrown) => writeFailure(folder, thrown),
  );
  const addLine = (kind: 'wire' | 'events', value: object) => {
    if (queue.hasFailed) return;
    const line = jsonLine(value);
    lines[kind].push(line);
    queue.added(line.length);
  };
  return {
    taken: queue.taken,
    settled: queue.settled,
    failed: queue.failed,
    get waitingBytes() {
      return queue.waitingBytes;
    },
    wire: (line) => addLine('wire', line),
    event: (event) => addLine('events', event),
    audio(direction, t, pcm, marks = {}) {
      if (queue.hasFailed) return;
      const at = voices.add(direction, t, pcm);
      queue.added(pcm.length);
      addLine('wire', { t, type: 'audio', direction, bytes: pcm.length, at, ...marks });
    },
    interrupted: voices.interrupted,
    async close(endMs, summary) {
      voices.end(endMs);
      queue.added(1);
      const written = await queue.settled().catch(toVoicectlError);
      const closings = await Promise.allSettled(
        [voices, files.wire, files.events].map((file) => file.close()),
      );
      if (written !== undefined) throw written;
      for (const closing of closings) if (closing.status === 'rejected') throw closing.reason;
      if (summary !== undefined)
        await writeText(join(folder, recordingFiles.summary), jsonLine(summary), newAndPrivate);
    },
  };
}

interface LineFile {
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

/** A new text file for its owner only. Throws `input-output`. */
async function openLines(path: string): Promise<LineFile> {
  const file = await openOutputFile(path, newAndPrivate);
  return {
    append: (text) => (text === '' ? Promise.resolve() : file.write(Buffer.from(text))),
    close: file.close,
  };
}
