import { constants, type Stats } from 'node:fs';
import { access, chmod, type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock, waitUntil } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { neverBlocks, writeFully } from '../kernel/write-fully.ts';
import { cannotWrite, systemCode, writeFailure } from './refusal.ts';

/** A file, named pipe, terminal or device to write to. No call blocks a thread, however slow the reader is. */
export interface OutputFile {
  /** Whether it is a file on a disk. Only there a position has a meaning. */
  readonly isRegular: boolean;
  /** Writes all of `bytes`, at `position` or after the previous write. Throws `input-output`. */
  write(bytes: Uint8Array, position?: number): Promise<void>;
  /** Throws `input-output`. */
  close(): Promise<void>;
}

export interface OutputFileOptions {
  /** What to do with an existing file: replace it, append to it, or fail. */
  existing?: 'replace' | 'append' | 'refuse';
  /** Whether only the user may read the file (mode 0600), even if it existed before. */
  isPrivate?: boolean;
  /** Its name in messages. Default: its path. */
  name?: string;
  /** Abort it to stop waiting for a reader of a pipe. */
  giveUp?: AbortSignal | undefined;
}

const flagsFor = {
  replace: constants.O_TRUNC,
  append: constants.O_APPEND,
  refuse: constants.O_EXCL,
};

/**
 * Opens an output that the user named, and creates the file if it does not exist. Waits for a named pipe until
 * somebody opens it for reading. Throws `input-output`.
 */
export async function openOutputFile(path: string, options: OutputFileOptions = {}): Promise<OutputFile> {
  const { existing = 'replace', isPrivate = false, name = path, giveUp } = options;
  const flags = constants.O_WRONLY | constants.O_CREAT | neverBlocks | flagsFor[existing];
  let handle: FileHandle | undefined;
  try {
    handle = await openWhenRead(() => open(path, flags, isPrivate ? 0o600 : 0o666), path, giveUp);
    const isRegular = (await handle.stat()).isFile();
    // An existing file has a mode already. A pipe or a terminal keeps its own.
    if (isPrivate && isRegular) await handle.chmod(0o600);
    return createOutputFile(handle, { name, isRegular, giveUp });
  } catch (thrown) {
    await handle?.close().catch(() => {});
    throw writeFailure(name, thrown);
  }
}

/** How long to wait before trying a pipe without a reader again. */
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
  return new Error('nobody is reading from it any more', { cause: giveUp?.reason });
}

/** What is at a path; undefined if there is nothing, or if the system does not allow a look. */
export function lookAt(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

/** Throws `input-output` if a file cannot be written, before the work that it is for. */
export async function requireWritable(path: string): Promise<void> {
  const there = await lookAt(path);
  if (there?.isDirectory()) throw cannotWrite(path, 'it is a folder');
  // A folder, not a file that could be written: only a folder has a `.`.
  await access(there === undefined ? `${dirname(path)}/.` : path, constants.W_OK).catch((thrown) => {
    throw writeFailure(path, thrown);
  });
}

/** Writes text to an output that the user named. Throws `input-output`. */
export async function writeText(path: string, text: string, options: OutputFileOptions = {}): Promise<void> {
  const file = await openOutputFile(path, options);
  try {
    await file.write(Buffer.from(text));
  } finally {
    await file.close();
  }
}

export interface WholeOptions {
  /** Writes nothing to a pipe or device, because text there cannot be replaced. */
  preliminary?: boolean;
  /** Abort it to stop waiting for a reader of a pipe. */
  giveUp?: AbortSignal | undefined;
}

/**
 * Replaces a file in one step: until then a reader finds the old file. The new one has its mode; a symbolic link stays one.
 * To a pipe or device, and to a file that cannot be replaced, it writes the text directly. Throws `input-output`.
 */
export async function writeWhole(
  path: string,
  text: string,
  { preliminary = false, giveUp }: WholeOptions = {},
): Promise<void> {
  const there = await lookAt(path);
  const isDevice = there !== undefined && !there.isFile() && !there.isDirectory();
  if (!isDevice) await replaceFile(path, text, there);
  else if (!preliminary) await writeText(path, text, { giveUp });
}

/** Why a file cannot be replaced that could be written: its folder takes no new files, or it is a mount of its own. */
const irreplaceable = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EBUSY', 'EXDEV']);

async function replaceFile(path: string, text: string, there: Stats | undefined): Promise<void> {
  // A link whose file is gone, as of one that is only open, names no place for a new one.
  const target = there === undefined ? path : await realpath(path).catch(() => path);
  // A short new name: the name of the file may already have the maximum length.
  const draft = join(dirname(target), `.voicectl-${process.pid}-${Math.random().toString(36).slice(2, 10)}`);
  try {
    await writeText(draft, text, { existing: 'refuse', isPrivate: there !== undefined, name: path });
    if (there !== undefined) await chmod(draft, there.mode & 0o777);
    await rename(draft, target);
  } catch (thrown) {
    await rm(draft, { force: true }).catch(() => {});
    const code = systemCode(thrown instanceof VoicectlError ? thrown.cause : thrown) ?? '';
    if (there?.isFile() !== true || !irreplaceable.has(code)) throw writeFailure(path, thrown);
    await writeText(path, text);
  }
}
