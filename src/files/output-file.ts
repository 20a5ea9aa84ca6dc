import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { systemClock, waitUntil } from '../kernel/clock.ts';
import { neverBlocks, writeFully } from '../kernel/write-fully.ts';
import { writeFailure } from './refusal.ts';

/** A file, named pipe, terminal or device that is written to. No call blocks a thread, whoever reads at the other end. */
export interface OutputFile {
  /** Whether it is a file on a disk: only there has a position a meaning. */
  readonly isRegular: boolean;
  /** Writes all of `bytes`, at `position` or behind what was written last. Throws `input-output`. */
  write(bytes: Uint8Array, position?: number): Promise<void>;
  /** Throws `input-output`. */
  close(): Promise<void>;
}

export interface OutputFileOptions {
  /** What is there already is replaced, continued, or left alone: then it is an error. */
  existing?: 'replace' | 'append' | 'refuse';
  /** Whether the file is for the user alone (mode 0600), also where it was there before. */
  isPrivate?: boolean;
  /** What messages call it: its path, if nothing else. */
  name?: string;
  /** Aborted when nobody waits any longer for a reader of a pipe. */
  giveUp?: AbortSignal | undefined;
}

const flagsFor = {
  replace: constants.O_TRUNC,
  append: constants.O_APPEND,
  refuse: constants.O_EXCL,
};

/**
 * Opens what a user named as an output, and makes the file where there is none. A named pipe is waited for until
 * somebody opens it for reading. Throws `input-output`.
 */
export async function openOutputFile(path: string, options: OutputFileOptions = {}): Promise<OutputFile> {
  const { existing = 'replace', isPrivate = false, name = path, giveUp } = options;
  const flags = constants.O_WRONLY | constants.O_CREAT | neverBlocks | flagsFor[existing];
  let handle: FileHandle | undefined;
  try {
    handle = await openWhenRead(() => open(path, flags, isPrivate ? 0o600 : 0o666), path, giveUp);
    const isRegular = (await handle.stat()).isFile();
    // A file that was there has a mode already; a pipe or a terminal keeps its own.
    if (isPrivate && isRegular) await handle.chmod(0o600);
    return createOutputFile(handle, { name, isRegular, giveUp });
  } catch (thrown) {
    await handle?.close().catch(() => {});
    throw writeFailure(name, thrown);
  }
}

/** How long to wait before a pipe that nobody has opened for reading is tried again. */
const againAfterMs = 20;

async function openWhenRead(
  openNow: () => Promise<FileHandle>,
  path: string,
  giveUp?: AbortSignal,
): Promise<FileHandle> {
  for (;;) {
    try {
      return await openNow();
    } catch (thrown) {
      const isUnread = (thrown as NodeJS.ErrnoException).code === 'ENXIO' && (await stat(path)).isFIFO();
      if (!isUnread) throw thrown;
      await waitUntil(systemClock, systemClock.now() + againAfterMs, giveUp).catch(() => {
        throw nobodyReads(giveUp);
      });
    }
  }
}

interface Opened {
  name: string;
  isRegular: boolean;
  giveUp: AbortSignal | undefined;
}

function createOutputFile(handle: FileHandle, { name, isRegular, giveUp }: Opened): OutputFile {
  const fail = (thrown: unknown) => {
    throw writeFailure(name, thrown);
  };
  const writeToFile = async (bytes: Uint8Array, position?: number) => {
    for (let done = 0; done < bytes.length; ) {
      const at = position === undefined ? null : position + done;
      done += (await handle.write(bytes, done, bytes.length - done, at)).bytesWritten;
    }
  };
  const writeToReader = async (bytes: Uint8Array) => {
    const isWhole = await writeFully(handle.fd, bytes, () => giveUp?.aborted === true);
    if (!isWhole) throw nobodyReads(giveUp);
  };
  return {
    isRegular,
    write: (bytes, position) => (isRegular ? writeToFile(bytes, position) : writeToReader(bytes)).catch(fail),
    close: () => handle.close().catch(fail),
  };
}

function nobodyReads(giveUp: AbortSignal | undefined): Error {
  return new Error('nobody reads from it', { cause: giveUp?.reason });
}

/** What is at a path; undefined where nothing is, or where that cannot be told. */
export function lookAt(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}
