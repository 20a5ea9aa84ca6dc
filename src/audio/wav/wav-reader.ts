import wav from 'wav';
import { makeWavHeader } from './wav-header.ts';
import type { WavLayout } from './wav-probe.ts';

/**
 * The audio of a probed WAV by way of `wav.Reader`, which is given a plain 44-byte header and then `data`, the
 * bytes of the data range: by itself it fails on many well-formed files (wav 1.0.2: chunks before `fmt `, odd
 * sizes, RF64, EXTENSIBLE). It is an old-style stream without `destroy`, so it is driven by hand, a chunk in and
 * a chunk out: it never holds more than one chunk, and nothing is left open when the loop ends early.
 */
export async function* readThroughWav(
  layout: WavLayout,
  data: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const reader = new wav.Reader();
  let failure: Error | undefined;
  reader.on('error', (error: Error) => {
    failure = error;
  });
  const write = (bytes: Buffer) =>
    new Promise<void>((resolve, reject) => {
      reader.write(bytes, (error) => (error ? reject(error) : resolve()));
    });

  // To the reader a size of 0 means "until the end".
  const fits = layout.dataBytes !== undefined && layout.dataBytes <= 0xffffffff;
  await write(makeWavHeader(layout.format, fits ? (layout.dataBytes ?? 0) : 0));
  for await (const bytes of data) {
    await write(bytes);
    if (failure) throw failure;
    for (let audio = take(reader); audio; audio = take(reader)) yield audio;
  }
}

function take(reader: wav.Reader): Buffer | undefined {
  const audio: unknown = reader.read();
  return Buffer.isBuffer(audio) ? audio : undefined;
}
