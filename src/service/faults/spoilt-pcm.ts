import { bytesPerSample, sampleRate } from '../../protocol/audio-format.ts';

/** Splits a message in two, within a sample. A message of less than two bytes stays whole. */
export function splitSample(pcm: Buffer): Buffer[] {
  const at = Math.floor(pcm.length / 2) | 1;
  return at < pcm.length ? [pcm.subarray(0, at), pcm.subarray(at)] : [pcm];
}

/** Raises the level by `gainDb`, and clips samples that do not fit. Half a sample at the end is dropped. */
export function clip(pcm: Buffer, gainDb: number): Buffer {
  const factor = 10 ** (gainDb / 20);
  return makeSamples(Math.floor(pcm.length / bytesPerSample), (at) =>
    Math.round(Math.max(-0x8000, Math.min(0x7fff, factor * sample(pcm, at)))),
  );
}

/** Resamples to the other rate. Played at 16 kHz, audio of a higher rate sounds too low. */
export function resampleRoughly(pcm: Buffer, rate: number): Buffer {
  const samples = Math.floor(((pcm.length / bytesPerSample) * rate) / sampleRate);
  return makeSamples(samples, (at) => {
    const position = (at * sampleRate) / rate;
    const before = Math.floor(position);
    const [left, right] = [sample(pcm, before), sample(pcm, before + 1)];
    return Math.round(left + (right - left) * (position - before));
  });
}

/** Swaps the bytes of each sample. Half a sample at the end is dropped. */
export function swapBytes(pcm: Buffer): Buffer {
  return Buffer.from(pcm.subarray(0, pcm.length & ~1)).swap16();
}

function makeSamples(samples: number, value: (at: number) => number): Buffer {
  const result = Buffer.alloc(samples * bytesPerSample);
  for (let at = 0; at < samples; at += 1) result.writeInt16LE(value(at), at * bytesPerSample);
  return result;
}

/** The sample at this place; past the end the last one. */
function sample(pcm: Buffer, at: number): number {
  const last = Math.floor(pcm.length / bytesPerSample) - 1;
  return last < 0 ? 0 : pcm.readInt16LE(Math.min(at, last) * bytesPerSample);
}
