import { dialogueRules as rules } from './rules.ts';
import { bandCount, bandValues, meanDb, type SideLevels } from './step-levels.ts';

/** What is heard from a side while nobody speaks. */
export interface Background {
  /** Its level in dBov. */
  db: number;
  /** Its power in each band. */
  bands: Float64Array;
  /** How much evidence of a sound it produces by itself, around a step. */
  uneven: number;
}

/** The steps from `from` to before `to`. */
export function cutSteps({ levels, bands }: SideLevels, from: number, to: number): SideLevels {
  return { levels: levels.subarray(from, to), bands: bands.subarray(from * bandCount, to * bandCount) };
}

/** Where background is looked for. A soft sound may be as long as a short window, but not be at both ends as well. */
const windowKinds = [
  { steps: rules.floorWindowMs / rules.stepMs, belowLoudDb: rules.floorBelowLoudDb, isAtBothEnds: false },
  {
    steps: rules.shortFloorWindowMs / rules.stepMs,
    belowLoudDb: rules.shortFloorBelowLoudDb,
    isAtBothEnds: true,
  },
] as const;
type WindowKind = (typeof windowKinds)[number];

/** How many steps before and after each one count for the evidence of a sound. */
export const reachSteps = rules.evidenceMs / rules.stepMs / 2;

/** The background: where the level is steady, and well below the rest. Undefined if there is none. */
export function backgroundOf(side: SideLevels): Background | undefined {
  for (const kind of windowKinds) {
    const found = backgroundIn(side, kind);
    if (found !== undefined) return found;
  }
  return undefined;
}

function backgroundIn(
  side: SideLevels,
  { steps: windowSteps, belowLoudDb, isAtBothEnds }: WindowKind,
): Background | undefined {
  const { levels } = side;
  const audible = sortedAbove(levels, rules.digitalSilenceDbov);
  // The side may speak only a little.
  const loud = percentile(audible, Math.max(0.95, 1 - rules.loudMs / rules.stepMs / audible.length));
  if (loud === undefined) return undefined;
  const steady: Window[] = [];
  const sorted = new Float32Array(windowSteps);
  for (let from = 0; from + windowSteps <= levels.length; from += windowSteps / 4) {
    sorted.set(levels.subarray(from, from + windowSteps));
    sorted.sort();
    const [low, high] = [percentile(sorted, 0.1) ?? 0, percentile(sorted, 0.9) ?? 0];
    if (low <= rules.digitalSilenceDbov || high - low > rules.floorSteadyDb) continue;
    const db = meanDb(sorted);
    if (db <= loud - belowLoudDb) steady.push({ from, db });
  }
  const db = percentile(Float32Array.from(steady, (one) => one.db).sort(), 0.2);
  // A long consonant is also steady, but then other sounds are softer.
  if (db === undefined || (percentile(audible, 0.03) ?? 0) < db - rules.floorBottomDb) return undefined;
  const near = steady.filter((one) => one.db < db + rules.floorNearDb);
  if (isAtBothEnds && !areAtBothEnds(near, levels, windowSteps)) return undefined;
  const bands = meanBands(side, near, windowSteps);
  const evidence = new Float32Array(windowSteps);
  const unevenFrom = ({ from }: Window) =>
    percentile(
      evidenceIn(cutSteps(side, from, from + windowSteps), { bands }, reachSteps, evidence).sort(),
      0.95,
    ) ?? 0;
  return { db, bands, uneven: percentile(Float32Array.from(near, unevenFrom).sort(), 0.9) ?? 0 };
}

/** A window in which the level of a side is steady, and that level. */
interface Window {
  from: number;
  db: number;
}

/** Whether there are windows at both ends of what is audible. */
function areAtBothEnds(windows: readonly Window[], levels: Float32Array, windowSteps: number): boolean {
  const isAudible = (level: number) => level > rules.digitalSilenceDbov;
  const [first, last] = [levels.findIndex(isAudible), levels.findLastIndex(isAudible)];
  return (
    windows.some(({ from }) => from < first + windowSteps / 2) &&
    windows.some(({ from }) => from + windowSteps > last - windowSteps / 2)
  );
}

/** The levels above a bound, sorted. An hour has 720,000, so nothing is allocated for each. */
function sortedAbove(levels: Float32Array, bound: number): Float32Array {
  const above = new Float32Array(levels.length);
  let count = 0;
  for (let step = 0; step < levels.length; step += 1) {
    const level = levels[step] as number;
    if (level > bound) above[count++] = level;
  }
  return above.subarray(0, count).sort();
}

/** Softer changes in a band are inaudible. */
const softestBand = 0x8000 ** 2 * 10 ** (rules.softestBandDbov / 10);

function meanBands({ bands }: SideLevels, windows: readonly Window[], windowSteps: number): Float64Array {
  const means = new Float64Array(bandCount);
  for (const { from } of windows)
    for (let at = from * bandCount; at < (from + windowSteps) * bandCount; at += 1)
      means[at % bandCount] = (means[at % bandCount] ?? 0) + (bands[at] ?? 0) / windowSteps / windows.length;
  return means.map((mean) => Math.max(softestBand, mean));
}

/**
 * How much more likely the bands around each step are with a sound than with the background alone: the logarithm of the
 * likelihood ratio for Gaussian noise, where the sound may have any level in each band. Written to `evidence`, one per step.
 */
export function evidenceIn(
  { levels, bands }: SideLevels,
  background: Pick<Background, 'bands'>,
  reach: number,
  evidence = new Float32Array(levels.length),
): Float32Array {
  evidence.fill(0);
  for (const [band, count] of bandValues.entries()) {
    const floor = background.bands[band] ?? softestBand;
    const at = (step: number) => bands[step * bandCount + band] ?? 0;
    let sum = 0;
    for (let step = -reach; step < levels.length; step += 1) {
      if (step + reach < levels.length) sum += at(step + reach);
      if (step > reach) sum -= at(step - reach - 1);
      if (step < 0) continue;
      const steps = Math.min(levels.length, step + reach + 1) - Math.max(0, step - reach);
      const ratio = sum / steps / floor;
      if (ratio > 1)
        evidence[step] = (evidence[step] ?? 0) + ((steps * count) / 2) * (ratio - 1 - Math.log(ratio));
    }
  }
  return evidence;
}

function percentile(sorted: Float32Array, share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
