import { alawSamples, mulawSamples } from '../../../src/audio/decode.ts';

export interface TestFormat {
  tag?: number;
  channels?: number;
  rate?: number;
  bits?: number;
  blockBytes?: number;
}

export const tags = { pcm: 1, float: 3, alaw: 6, mulaw: 7 } as const;
const guidTail = Buffer.from('000000001000800000aa00389b71', 'hex');

/** A chunk with its header; `size` lies about its length, `pad` is what follows an odd body. */
export function chunk(id: string, body: Buffer, options: { size?: number; pad?: Buffer } = {}): Buffer {
  const header = Buffer.alloc(8);
  header.write(id, 'latin1');
  header.writeUInt32LE(options.size ?? body.length, 4);
  const pad = body.length % 2 === 0 ? Buffer.alloc(0) : (options.pad ?? Buffer.alloc(1));
  return Buffer.concat([header, body, pad]);
}

/** The body of a `fmt ` chunk of 16 bytes; 16 kHz 16-bit mono PCM unless said otherwise. */
export function formatBody(format: TestFormat = {}): Buffer {
  const { tag = 1, channels = 1, rate = 16_000, bits = 16 } = format;
  const blockBytes = format.blockBytes ?? (channels * bits) / 8;
  const body = Buffer.alloc(16);
  body.writeUInt16LE(tag, 0);
  body.writeUInt16LE(channels, 2);
  body.writeUInt32LE(rate, 4);
  body.writeUInt32LE((rate * blockBytes) % 2 ** 32, 8);
  body.writeUInt16LE(Math.floor(blockBytes), 12);
  body.writeUInt16LE(bits, 14);
  return body;
}

/** The body of WAVE_FORMAT_EXTENSIBLE, 40 bytes. */
export function extensibleBody(format: TestFormat = {}, tail: Buffer = guidTail): Buffer {
  const extension = Buffer.alloc(10);
  extension.writeUInt16LE(22, 0);
  extension.writeUInt16LE(format.bits ?? 16, 2);
  extension.writeUInt16LE(format.tag ?? 1, 8);
  return Buffer.concat([formatBody({ ...format, tag: 0xfffe }), extension, tail]);
}

/** A ds64 chunk: 64-bit sizes of RF64. */
export function ds64(dataBytes: bigint): Buffer {
  const body = Buffer.alloc(28);
  body.writeBigUInt64LE(dataBytes + 80n, 0);
  body.writeBigUInt64LE(dataBytes, 8);
  return chunk('ds64', body);
}

export function riff(
  chunks: Buffer[],
  options: { form?: string; type?: string; size?: number } = {},
): Buffer {
  const body = Buffer.concat([Buffer.from(options.type ?? 'WAVE'), ...chunks]);
  const header = Buffer.alloc(8);
  header.write(options.form ?? 'RIFF', 'latin1');
  header.writeUInt32LE(options.size ?? body.length, 4);
  return Buffer.concat([header, body]);
}

/** The plainest WAV there is. */
export function wav(data: Buffer, format: TestFormat = {}): Buffer {
  return riff([chunk('fmt ', formatBody(format)), chunk('data', data)]);
}

/** Interleaved samples of −1 to 1 in any encoding that can be read. */
export function encode(samples: ArrayLike<number>, tag: number, bits: number): Buffer {
  const bytes = bits / 8;
  const data = Buffer.alloc(samples.length * bytes);
  for (let i = 0; i < samples.length; i += 1) encodeSample(data, i * bytes, samples[i]!, tag, bits);
  return data;
}

function encodeSample(data: Buffer, offset: number, sample: number, tag: number, bits: number): void {
  if (tag === tags.float && bits === 32) data.writeFloatLE(sample, offset);
  else if (tag === tags.float) data.writeDoubleLE(sample, offset);
  else if (tag === tags.alaw) data[offset] = nearest(alawSamples, sample * 0x8000);
  else if (tag === tags.mulaw) data[offset] = nearest(mulawSamples, sample * 0x8000);
  else if (bits === 8) data[offset] = Math.min(255, Math.round(sample * 128) + 128);
  else {
    const scale = 2 ** (bits - 1);
    data.writeIntLE(Math.max(-scale, Math.min(scale - 1, Math.round(sample * scale))), offset, bits / 8);
  }
}

function nearest(table: Int16Array, sample: number): number {
  let best = 0;
  for (let code = 1; code < 256; code += 1) {
    if (Math.abs(table[code]! - sample) < Math.abs(table[best]! - sample)) best = code;
  }
  return best;
}
