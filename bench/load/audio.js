/** The audio that the benchmarks send: 16 kHz s16le mono in messages of 20 ms. */
export const frameMs = 20;
export const frameBytes = 640;
export const bytesPerSecond = 32_000;

/**
 * A second of something like speech, then half a second of nothing, over and over: loud enough for the speech gate.
 *
 * @param {number} seconds
 */
export function speechLike(seconds) {
  const pcm = Buffer.alloc(seconds * bytesPerSecond);
  for (let at = 0; at < pcm.length; at += 2) {
    const t = at / bytesPerSecond;
    const loudness = t % 1.5 < 1 ? 0.5 + 0.5 * Math.sin(2 * Math.PI * 4 * t) : 0;
    pcm.writeInt16LE(Math.round(9_000 * loudness * Math.sin(2 * Math.PI * 180 * t)), at);
  }
  return pcm;
}
