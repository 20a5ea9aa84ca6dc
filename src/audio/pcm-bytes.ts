import { types } from 'node:util';
import { VoicectlError } from '../kernel/errors.ts';

/** PCM of a program, 16 kHz s16le mono: its bytes or its samples. */
export type Pcm = Uint8Array | Int16Array;

/** The bytes of PCM, not copied. Throws `usage` for anything else. */
export function pcmBytes(pcm: Pcm): Buffer {
  if (Buffer.isBuffer(pcm)) return pcm;
  // Arrays of another realm too: in Jest the globals differ from those of Node's own modules.
  if (types.isUint8Array(pcm) || types.isInt16Array(pcm))
    return Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  throw new VoicectlError('usage', `PCM must be a Buffer, Uint8Array or Int16Array, not ${kindOf(pcm)}`, {
    hint: 'loadPcm reads a WAV as 16 kHz s16le mono.',
  });
}

function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}
