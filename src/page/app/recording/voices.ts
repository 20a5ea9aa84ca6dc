/** base64 of gzipped s16le as samples. */
export async function decodePcm(base64: string): Promise<Int16Array> {
  const zipped = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(stream).arrayBuffer();
  return new Int16Array(bytes, 0, bytes.byteLength >> 1);
}

export interface Voices {
  out: Int16Array;
  in: Int16Array;
}

export type Heard = 'both' | 'out' | 'in';

/** A stereo WAV of both voices: yours more on the left, the AI more on the right. */
export function makeWav(voices: Voices, sampleRate: number, hear: Heard): Blob {
  const count = Math.max(voices.out.length, voices.in.length);
  const view = new DataView(new ArrayBuffer(44 + count * 4));
  writeHeader(view, { sampleRate, bytes: count * 4, channels: 2 });
  const [near, far] = hear === 'both' ? [0.85, 0.45] : [1, 1];
  const clip = (value: number) => Math.max(-0x8000, Math.min(0x7fff, Math.round(value)));
  for (let index = 0; index < count; index += 1) {
    const you = hear === 'in' ? 0 : (voices.out[index] ?? 0);
    const ai = hear === 'out' ? 0 : (voices.in[index] ?? 0);
    view.setInt16(44 + index * 4, clip(near * you + far * ai), true);
    view.setInt16(46 + index * 4, clip(far * you + near * ai), true);
  }
  return new Blob([view], { type: 'audio/wav' });
}

/** The 44 bytes before s16le samples. */
function writeHeader(
  view: DataView,
  { sampleRate, bytes, channels }: { sampleRate: number; bytes: number; channels: number },
): void {
  const text = (at: number, value: string) => {
    for (const [index, letter] of [...value].entries()) view.setUint8(at + index, letter.charCodeAt(0));
  };
  text(0, 'RIFF');
  view.setUint32(4, 36 + bytes, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * channels * 2, true);
  view.setUint16(32, channels * 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, bytes, true);
}
