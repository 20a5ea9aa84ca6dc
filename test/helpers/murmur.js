const rate = 16_000;

/**
 * A sound in which every tenth of a second is unlike every other: soft noise below 300 Hz, the same in each run.
 *
 * @param {number} seconds
 * @param {number} [seed]
 */
export function makeMurmur(seconds, seed = 7) {
  const count = seconds * rate;
  const pcm = Buffer.alloc(count * 2);
  let state = seed;
  let [low, lower] = [0, 0];
  for (let i = 0; i < count; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // Two poles at about 300 Hz.
    low += 0.11 * (state / 2_147_483_648 - 1 - low);
    lower += 0.11 * (low - lower);
    pcm.writeInt16LE(Math.max(-32_000, Math.min(32_000, Math.round(lower * 70_000))), i * 2);
  }
  return pcm;
}
