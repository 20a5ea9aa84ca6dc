import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { openWavFile } from '../../audio/wav/wav-source.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { type FileCommandOptions, runFileCommand } from './file-command.ts';

/** A synthesiser is slow on its first text. */
const withinMs = 60_000;
/** Most texts that are kept; those that were used last. */
const maxKept = 200;

/**
 * The WAV of a text that a command speaks: `{wav}` in its arguments stands for the file that it writes, `{text}` for the text,
 * which is otherwise on its standard input. Kept for the next run, by text and command, in the user's cache folder, which only
 * the user can read. Throws `bad-input` if the command fails or writes no WAV.
 */
export async function speakText(
  { text, by }: { text: string; by: readonly string[] },
  { folder, env, signal }: Pick<FileCommandOptions, 'folder' | 'env' | 'signal'>,
): Promise<string> {
  const cache = join(env.XDG_CACHE_HOME || join(env.HOME ?? homedir(), '.cache'), 'voicectl', 'speech');
  // A path is another program in another folder.
  const place = /[\\/]/.test(by[0] ?? '') ? resolve(folder) : '';
  const name = createHash('sha256')
    .update(JSON.stringify([text, by, place]))
    .digest('hex');
  const file = join(cache, `${name}.wav`);
  const now = new Date();
  const isKept = await utimes(file, now, now).then(
    () => true,
    () => false,
  );
  if (isKept) return file;
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const draft = join(cache, `${randomUUID()}.wav`);
  try {
    const hasText = by.some((word) => word.includes('{text}'));
    const words = by.map((word) =>
      word.replaceAll(/\{(wav|text)\}/g, (_, key) => (key === 'wav' ? draft : text)),
    );
    const input = hasText ? undefined : text;
    const { ok, says } = await runFileCommand(words, { folder, env, withinMs, signal, input });
    signal.throwIfAborted();
    if (!ok) throw new VoicectlError('bad-input', `The command that speaks failed: ${says}`);
    await openWavFile(draft, { signal });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  await dropOldest(cache);
  return file;
}

async function dropOldest(cache: string): Promise<void> {
  const names = await readdir(cache);
  if (names.length <= maxKept) return;
  const kept = await Promise.all(
    names.map(async (name) => {
      const path = join(cache, name);
      return {
        path,
        usedAt: await stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      };
    }),
  );
  kept.sort((a, b) => b.usedAt - a.usedAt);
  for (const { path } of kept.slice(maxKept)) await rm(path, { force: true });
}
