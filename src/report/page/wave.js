/** Samples under one of the peaks that are computed once; finer looks go to the samples themselves. */
const blockSamples = 64;

/** The text of a data element, which is base64 of gzipped s16le, as samples. */
export async function decodePcm(base64) {
  const zipped = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(stream).arrayBuffer();
  return new Int16Array(bytes, 0, bytes.byteLength >> 1);
}

/** The loudest amplitude, 0 to 1, of any stretch of samples. */
export function createPeaks(samples) {
  const blocks = new Uint16Array(Math.ceil(samples.length / blockSamples));
  for (let index = 0; index < samples.length; index += 1) {
    const block = Math.floor(index / blockSamples);
    blocks[block] = Math.max(blocks[block], Math.abs(samples[index]));
  }
  return (from, to) => {
    const isCoarse = to - from > 2 * blockSamples;
    const source = isCoarse ? blocks : samples;
    const scale = isCoarse ? blockSamples : 1;
    const end = Math.min(source.length, Math.ceil(to / scale));
    let peak = 0;
    for (let index = Math.floor(from / scale); index < end; index += 1) {
      peak = Math.max(peak, Math.abs(source[index]));
    }
    return peak / 0x8000;
  };
}

/** A stereo WAV of both voices: yours more to the left, the AI more to the right; `hear` is out, in or both. */
export function makeWav(voices, sampleRate, hear) {
  const count = Math.max(voices.out.length, voices.in.length);
  const view = new DataView(new ArrayBuffer(44 + count * 4));
  const text = (at, value) => {
    for (const [index, letter] of [...value].entries()) view.setUint8(at + index, letter.charCodeAt(0));
  };
  text(0, 'RIFF');
  view.setUint32(4, 36 + count * 4, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 2, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 4, true);
  view.setUint16(32, 4, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, count * 4, true);
  const [near, far] = hear === 'both' ? [0.85, 0.45] : [1, 1];
  const clip = (value) => Math.max(-0x8000, Math.min(0x7fff, Math.round(value)));
  for (let index = 0; index < count; index += 1) {
    const you = hear === 'in' ? 0 : (voices.out[index] ?? 0);
    const ai = hear === 'out' ? 0 : (voices.in[index] ?? 0);
    view.setInt16(44 + index * 4, clip(near * you + far * ai), true);
    view.setInt16(46 + index * 4, clip(far * you + near * ai), true);
  }
  return new Blob([view], { type: 'audio/wav' });
}
