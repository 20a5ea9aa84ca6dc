import { createMonoDecoder } from '../../audio/decode.ts';
import { encodeS16le } from '../../audio/encode.ts';
import { createResampler } from '../../audio/resample.ts';
import { wireFormat } from '../../audio/source-format.ts';
import { channels, sampleRate } from '../../protocol/audio-format.ts';
import type { NativeFormat } from '../host/native-devices.ts';

/** Whether a device takes the format of the service. */
export function isWireFormat(format: NativeFormat): boolean {
  return format.sampleRate === sampleRate && format.channels === channels;
}

/** Converts 16 kHz s16le mono to the format of a device. */
export function createConverter(format: NativeFormat): (frame: Buffer) => Buffer {
  if (isWireFormat(format)) return (frame) => frame;
  const decode = createMonoDecoder(wireFormat);
  const resampler = createResampler(sampleRate, format.sampleRate);
  return (frame) => spread(encodeS16le(resampler.push(decode(frame))), format.channels);
}

/** Copies each sample to all channels. */
function spread(pcm: Buffer, count: number): Buffer {
  const spreadPcm = Buffer.alloc(pcm.length * count);
  for (let sample = 0; sample < pcm.length / 2; sample += 1) {
    const value = pcm.readInt16LE(sample * 2);
    for (let channel = 0; channel < count; channel += 1) {
      spreadPcm.writeInt16LE(value, (sample * count + channel) * 2);
    }
  }
  return spreadPcm;
}
