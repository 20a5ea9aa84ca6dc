import type { Reader } from 'wav';
import type { SampleFormat } from '../source.ts';
import { makeWavHeader } from './wav-header.ts';

/**
 * The audio of a WAV by way of `wav.Reader`, which is given a plain 44-byte header and then `data`, the
 * bytes of the data range: by itself it fails on many well-formed files (wav 1.0.2: chunks before `fmt `, odd
 * sizes, RF64, EXTENSIBLE). It is an old-style stream without `destroy`, so it is driven by hand, a chunk in and
 * a chunk out: it never holds more than one chunk, and nothing is left open when the loop ends early.
 */
export async function* readThroughWav(
  format: SampleFormat,
  data: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  // What it needs is much, and most emulators read no file.
  const { default: wav } = await import('wav');
  const reader = new wav.Reader();
  const write = (bytes: Buffer) =>
    new Promise<void>((resolve, reject) => {
      reader.write(bytes, (error) => (error ? reject(error) : resolve()));
    });

  // To the reader a size of 0 means "until the end".
  await write(makeWavHeader(format, 0));
  for await (const bytes of data) {
    await write(bytes);
    for (let audio = take(reader); audio; audio = take(reader)) yield audio;
  }
}

function take(reader: Reader): Buffer | undefined {
  const audio: unknown = reader.read();
  return Buffer.isBuffer(audio) ? audio : undefined;
}
