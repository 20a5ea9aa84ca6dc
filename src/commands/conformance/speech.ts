import { readFile } from 'node:fs/promises';
import { findSound } from '../../files/shipped-file.ts';

/** A plain 44-byte header stands before the samples of the shipped sounds. */
const wavHeaderBytes = 44;

/** What is said to a service: PCM. */
export async function readSpeech(): Promise<Buffer> {
  return (await readFile(await findSound('hello.wav'))).subarray(wavHeaderBytes);
}
