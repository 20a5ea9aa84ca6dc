import { createHash, randomUUID } from 'node:crypto';
import { lstat, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openWavFile } from '../../audio/wav/wav-source.ts';
import { cacheFolders } from '../../files/cache-folder.ts';
import { makeFolder } from '../../files/make-folder.ts';
import { repeat, systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { system } from '../../kernel/system.ts';
import { type FileCommandOptions, runFileCommand } from './file-command.ts';

/** A speech synthesiser is slow with its first text. */
const withinMs = 60_000;
/** Limits of the cache: number of texts and bytes. The most recently used ones are kept. */
const maxKept = 200;
const maxKeptBytes = 512 * 1024 * 1024;
/** Maximum bytes that a command may write: more than an hour of speech. */
const maxSpokenBytes = 256 * 1024 * 1024;
const lookEveryMs = 100;
const writableByOthers = 0o022;

/**
 * The WAV of a text that a command speaks: `{wav}` in its arguments stands for the file that it writes, `{text}` for the text,
 * which is otherwise on its standard input. Kept for the next run, by text and command, in the user's cache folder, which only
 * the user can write. Throws `bad-input` if the command fails or writes no WAV, `input-output` if others may write there.
 */
export async function speakText(
  { text, by }: { text: string; by: readonly string[] },
  { folder, env, signal }: Pick<FileCommandOptions, 'folder' | 'env' | 'signal'>,
): Promise<string> {
  const cache = await openCache(env);
  // The same path means another program in another folder.
  const place = /[\\/]/.test(by[0] ?? '') ? resolve(folder) : '';
  const name = createHash('sha256')
    .update(JSON.stringify([text, by, place]))
    .digest('hex');
  const file = join(cache, `${name}.wav`);
  if (await isKept(file, signal)) return file;
  const draft = join(cache, `${randomUUID()}.wav`);
  try {
    const hasText = by.some((word) => word.includes('{text}'));
    const words = by.map((word) =>
      word.replaceAll(/\{(wav|text)\}/g, (_, key) => (key === 'wav' ? draft : text)),
    );
    const input = hasText ? undefined : text;
    await speakTo(draft, words, { folder, env, signal, input });
    await openWavFile(draft, { signal });
    await rm(file, { recursive: true, force: true });
    await rename(draft, file);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await dropOldest(cache, file);
  return file;
}

/** The folder of spoken texts. Throws `input-output` where none can be made, or others may write into it. */
async function openCache(env: FileCommandOptions['env']): Promise<string> {
  let why: unknown;
  for (const home of cacheFolders({ env })) {
    const cache = join(home, 'speech');
    try {
      await makeFolder(cache);
      for (const path of [home, cache]) {
        const { uid, mode } = await stat(path);
        const isOurs = uid === (process.getuid?.() ?? uid);
        if (!isOurs || (system.hasFileModes && (mode & writableByOthers) !== 0))
          throw new Error(`${path} belongs to someone else, or others can write to it`);
      }
      return cache;
    } catch (thrown) {
      why ??= thrown;
    }
  }
  throw new VoicectlError(
    'input-output',
    `No folder can be used to keep spoken texts: ${(why as Error).message}`,
    {
      hint: 'Set XDG_CACHE_HOME (on Windows LOCALAPPDATA) to a folder of your own.',
      cause: why,
    },
  );
}

/** Whether a text was spoken before and its WAV is still valid. Marks it as used now. */
async function isKept(file: string, signal: AbortSignal): Promise<boolean> {
  try {
    await expectFile(file);
    await openWavFile(file, { signal });
    const now = new Date();
    // Only the owner of the file can set it, who may be another user.
    await utimes(file, now, now).catch(() => {});
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** Throws for a link, a pipe and a device. A command that runs as another user writes a file of that user into our folder. */
async function expectFile(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) throw new VoicectlError('bad-input', 'The speech command wrote no WAV');
  if (!found.isFile())
    throw new VoicectlError('bad-input', 'What the speech command wrote is not a regular file');
}

/** Runs the command that writes `draft`, and ends it if it writes without end. */
async function speakTo(
  draft: string,
  words: readonly string[],
  { signal, ...options }: Omit<FileCommandOptions, 'withinMs'>,
): Promise<void> {
  const tooMuch = new AbortController();
  const isTooMuch = (bytes: number) => bytes > maxSpokenBytes;
  const sizeOf = () =>
    lstat(draft).then(
      ({ size }) => size,
      () => 0,
    );
  const looking = repeat(systemClock, lookEveryMs, () => {
    void sizeOf().then((bytes) => isTooMuch(bytes) && tooMuch.abort());
  });
  const either = AbortSignal.any([signal, tooMuch.signal]);
  const { ok, says } = await runFileCommand(words, { ...options, withinMs, signal: either }).finally(
    looking.cancel,
  );
  signal.throwIfAborted();
  if (tooMuch.signal.aborted || isTooMuch(await sizeOf()))
    throw new VoicectlError('bad-input', 'The speech command failed: it wrote more than 256 MiB');
  if (!ok) throw new VoicectlError('bad-input', `The speech command failed: ${says}`);
  await expectFile(draft);
}

/** Keeps the most recently used texts, `file` among them. */
async function dropOldest(cache: string, file: string): Promise<void> {
  const names = await readdir(cache);
  const kept = await Promise.all(
    names.map(async (name) => {
      const path = join(cache, name);
      const found = await lstat(path).catch(() => undefined);
      return { path, usedAt: found?.mtimeMs ?? 0, bytes: found?.size ?? 0 };
    }),
  );
  kept.sort((a, b) => Number(b.path === file) - Number(a.path === file) || b.usedAt - a.usedAt);
  let bytes = 0;
  for (const [index, one] of kept.entries()) {
    bytes += one.bytes;
    if (one.path !== file && (index >= maxKept || bytes > maxKeptBytes)) await rm(one.path, { force: true });
  }
}
