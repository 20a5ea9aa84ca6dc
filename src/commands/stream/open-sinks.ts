import { createWavFile } from '../../audio/wav/wav-file.ts';
import type { Io } from '../../kernel/io.ts';
import type { AudioSink } from '../../session/output.ts';

/** Where the AI audio goes: a WAV file, raw PCM on standard output (`-`), or nowhere. */
export async function openSinks(
  out: string | undefined,
  { stdout, giveUp }: Pick<Io, 'stdout' | 'giveUp'>,
): Promise<AudioSink[]> {
  if (out === undefined) return [];
  if (out === '-') return [{ write: (pcm) => stdout.write(pcm), close: async () => {} }];
  return [await createWavFile(out, { giveUp })];
}
