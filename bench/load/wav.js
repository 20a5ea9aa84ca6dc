import { bytesPerSecond } from './audio.js';

/**
 * The 44 bytes before 16 kHz s16le mono in a WAV file.
 *
 * @param {number} dataBytes
 */
export function wavHeader(dataBytes) {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(16_000, 24);
  header.writeUInt32LE(bytesPerSecond, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** @param {Buffer} pcm */
export function wavOf(pcm) {
  return Buffer.concat([wavHeader(pcm.length), pcm]);
}
