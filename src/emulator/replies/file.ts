import { loadPcm } from '../../audio/wav/wav-source.ts';
import { playPcm } from '../../service/streams/playable.ts';
import type { CreateReply } from './reply.ts';
import { takeTurns } from './turns.ts';

/** Answers each turn with a WAV file. Reads and converts it once, at the start. */
export async function sayFile(path: string): Promise<CreateReply> {
  const pcm = await loadPcm(path);
  return takeTurns(() => playPcm(pcm));
}
