/** An echo of what was played in what was heard. */
export interface Echo {
  /** How many samples later. */
  readonly delay: number;
  /** How loud it is heard, compared to what was played. */
  readonly gainDb: number;
}

/** Quieter than −50 dBFS nothing is played that could be found again. */
const leastLevel = 0.003;
/** Beyond chance: what a microphone hears of a loudspeaker in a room is coloured, and others speak too. */
const leastLikeness = 0.5;

/** Looks for the echo of `played` in `heard`, both −1 to 1, of one length and in step, up to `longest` samples later. */
export function findEcho(played: Float32Array, heard: Float32Array, longest: number): Echo | undefined {
  const length = played.length - longest;
  if (length <= 0) return undefined;
  const energy = energyOf(played, 0, length);
  if (Math.sqrt(energy / length) < leastLevel) return undefined;
  let best = { delay: 0, likeness: 0, product: 0 };
  for (let delay = 0; delay <= longest; delay += 1) {
    let product = 0;
    for (let index = 0; index < length; index += 1) {
      product += (played[index] ?? 0) * (heard[index + delay] ?? 0);
    }
    const likeness = Math.abs(product) / Math.sqrt(energy * energyOf(heard, delay, length) || 1);
    if (likeness > best.likeness) best = { delay, likeness, product };
  }
  if (best.likeness < leastLikeness) return undefined;
  return { delay: best.delay, gainDb: 20 * Math.log10(Math.abs(best.product) / energy) };
}

function energyOf(samples: Float32Array, from: number, length: number): number {
  let energy = 0;
  for (let index = from; index < from + length; index += 1) energy += (samples[index] ?? 0) ** 2;
  return energy;
}
