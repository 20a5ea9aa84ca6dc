import type { SampleFormat } from '../source.ts';

export const wavHeaderBytes = 44;

/** Whether the first four characters of a file are those of a WAV: RIFF, or a form with 64-bit sizes. */
export function isWavForm(start: string): boolean {
  return start === 'RIFF' || start === 'RF64' || start === 'BW64';
}

const tags = { pcm: 1, float: 3, alaw: 6, mulaw: 7 } as const;

/**
 * The plain 44-byte header of a WAV with `dataBytes` bytes of audio: RIFF, `fmt ` of 16 bytes, `data`. Sizes that do not fit
 * into 32 bits, including Infinity, become the largest size that does, which readers take as "until the end".
 */
export function makeWavHeader(format: SampleFormat, dataBytes: number): Buffer {
  const { encoding, sampleRate, channels, bitsPerSample } = format;
  const blockBytes = (channels * bitsPerSample) / 8;
  const header = Buffer.alloc(wavHeaderBytes);
  header.write('RIFF', 0);
  header.writeUInt32LE(Math.min(dataBytes + wavHeaderBytes - 8, 0xffffffff), 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(tags[encoding], 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(Math.min(sampleRate * blockBytes, 0xffffffff), 28);
  header.writeUInt16LE(blockBytes, 32);
  header.writeUInt16LE(bitsPerSample, 34);
  header.write('data', 36);
  header.writeUInt32LE(Math.min(dataBytes, 0xffffffff), 40);
  return header;
}
