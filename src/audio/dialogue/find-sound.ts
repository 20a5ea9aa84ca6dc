import { dialogueRules as rules } from './rules.ts';

/** SoundSpan, in milliseconds of the time axis. */
export interface SoundSpan {
  startMs: number;
  endMs: number;
}

const { stepMs } = rules;

/**
 * Where a side makes a sound, from the levels of its steps: above a gate over its background, from the first to the last
 * step that is above the background at all. Sounds are in order and do not touch.
 */
export function findSounds(levels: Float32Array): SoundSpan[] {
  const active = findActive(levels);
  const runs = joinSteps(active, rules.soundJoinMs);
  const isLong = ({ activeMs }: Run) => activeMs >= rules.shortestSoundMs;
  return runs
    .filter((run, index) => isLong(run) || isNearLong(runs, index, isLong))
    .map(({ startMs, endMs }) => ({ startMs, endMs }));
}

/** Joins sounds over pauses that are shorter than this. */
export function joinSounds(sounds: readonly SoundSpan[], pauseMs: number): SoundSpan[] {
  const joined: SoundSpan[] = [];
  for (const { startMs, endMs } of sounds) {
    const last = joined.at(-1);
    if (last !== undefined && startMs - last.endMs < pauseMs) last.endMs = endMs;
    else joined.push({ startMs, endMs });
  }
  return joined;
}

/** How long two lists of sounds go on at once. Those of a list do not overlap. */
export function overlaps(a: readonly SoundSpan[], b: readonly SoundSpan[]): SoundSpan[] {
  return a.flatMap((one) =>
    b.flatMap((other) => {
      const startMs = Math.max(one.startMs, other.startMs);
      const endMs = Math.min(one.endMs, other.endMs);
      return endMs > startMs ? [{ startMs, endMs }] : [];
    }),
  );
}

export function lengthOf(sounds: readonly SoundSpan[]): number {
  return sounds.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
}

interface Run extends SoundSpan {
  activeMs: number;
}

function joinSteps(active: Uint8Array, pauseMs: number): Run[] {
  const runs: Run[] = [];
  for (const [step, isActive] of active.entries()) {
    if (isActive === 0) continue;
    const [startMs, endMs] = [step * stepMs, (step + 1) * stepMs];
    const last = runs.at(-1);
    if (last !== undefined && startMs - last.endMs <= pauseMs) {
      last.endMs = endMs;
      last.activeMs += stepMs;
    } else runs.push({ startMs, endMs, activeMs: stepMs });
  }
  return runs;
}

/** A short burst beside a sound is part of it: the release of a stop consonant. */
function isNearLong(runs: readonly Run[], index: number, isLong: (run: Run) => boolean): boolean {
  const [before, run, after] = [runs[index - 1], runs[index], runs[index + 1]];
  if (run === undefined) return false;
  return (
    (before !== undefined && isLong(before) && run.startMs - before.endMs <= rules.clickDistanceMs) ||
    (after !== undefined && isLong(after) && after.startMs - run.endMs <= rules.clickDistanceMs)
  );
}

/** 1 for each step that belongs to a sound. */
function findActive(levels: Float32Array): Uint8Array {
  const active = new Uint8Array(levels.length);
  const sideFloor = floorOf(levels);
  for (const [from, to] of islandsOf(levels)) {
    const island = levels.subarray(from, to);
    const floor = floorOf(island) ?? sideFloor;
    const marks = active.subarray(from, to);
    if (floor === undefined) {
      for (const [step, level] of island.entries()) if (level > rules.softestDbov) marks[step] = 1;
    } else mark(island, floor, marks);
  }
  return active;
}

/** Steps above a background, from `from` to before `to`. */
interface Stretch {
  from: number;
  to: number;
  isSound: boolean;
  /** Speech, if a sound is near. */
  isSoft: boolean;
}

/** Marks each stretch over the background in which a step is above the gate, and soft ones beside it. */
function mark(levels: Float32Array, floor: Floor, marks: Uint8Array): void {
  const edge = Math.max(rules.softestDbov, floor.db + Math.max(rules.edgeAboveFloorDb, floor.unevenDb));
  const stretches = stretchesOf(levels, floor, edge);
  const isNear = ({ from, to }: Stretch) =>
    stretches.some(
      (other) => other.isSound && Math.max(from - other.to, other.from - to) * stepMs <= rules.softNearMs,
    );
  // What is cut off has no soft end in the background.
  const isLow = (at: number) => (levels[at] ?? 0) < edge + rules.hiddenFallDb;
  const hiddenAt = (at: number) => (edge > rules.softestDbov && isLow(at) ? rules.hiddenMs / stepMs : 0);
  for (const one of stretches) {
    const { from, to } = one;
    if (one.isSound || (one.isSoft && isNear(one)))
      marks.fill(1, Math.max(0, from - hiddenAt(from)), to + hiddenAt(to - 1));
  }
}

function stretchesOf(levels: Float32Array, { db, unevenDb }: Floor, edge: number): Stretch[] {
  const gate = Math.max(rules.softestDbov, db + rules.aboveFloorDb);
  const softGate = Math.max(rules.softestDbov, db + rules.softAboveFloorDb + unevenDb);
  const smooth = smoothed(levels);
  const stretches: Stretch[] = [];
  for (let step = 0; step < levels.length; step += 1) {
    if ((smooth[step] ?? 0) <= edge) continue;
    let [from, to] = [step, step];
    let [isSound, isSoft] = [false, false];
    for (; to < levels.length && (smooth[to] ?? 0) > edge; to += 1) {
      isSound ||= (levels[to] ?? 0) > gate;
      isSoft ||= (smooth[to] ?? 0) > softGate;
    }
    step = to;
    // Beside a loud step its neighbours are loud only in the mean.
    while (from < to && (levels[from] ?? 0) <= edge) from += 1;
    while (to > from && (levels[to - 1] ?? 0) <= edge) to -= 1;
    if (isSound || isSoft) stretches.push({ from, to, isSound, isSoft });
  }
  return stretches;
}

/** The level around each step, as far as a background is measured better over several of them. */
function smoothed(levels: Float32Array): Float32Array {
  const reach = rules.edgeSmoothMs / stepMs / 2;
  return levels.map((_, step) => meanDb(levels.subarray(Math.max(0, step - reach), step + reach + 1)));
}

const windowSteps = rules.floorWindowMs / stepMs;

/** Stretches between long digital silences: each may have a background of its own. */
function islandsOf(levels: Float32Array): [from: number, to: number][] {
  const islands: [from: number, to: number][] = [];
  for (const [step, level] of levels.entries()) {
    if (level <= rules.digitalSilenceDbov) continue;
    const last = islands.at(-1);
    if (last !== undefined && step - last[1] < windowSteps) last[1] = step + 1;
    else islands.push([step, step + 1]);
  }
  return islands;
}

/** A background: its level in dBov, and how far above it it comes by itself. */
interface Floor {
  db: number;
  unevenDb: number;
}

/** The background: where the level is steady, and well below the rest. Undefined without any. */
function floorOf(levels: Float32Array): Floor | undefined {
  const audible = levels.filter((level) => level > rules.digitalSilenceDbov);
  // A side may speak little.
  const loud = percentile(audible, Math.max(0.95, 1 - rules.loudMs / stepMs / audible.length));
  if (loud === undefined) return undefined;
  const found: number[] = [];
  const uneven: number[] = [];
  for (let from = 0; from + windowSteps <= levels.length; from += windowSteps / 4) {
    const window = levels.subarray(from, from + windowSteps);
    const [low, high] = [percentile(window, 0.1) ?? 0, percentile(window, 0.9) ?? 0];
    if (low <= rules.digitalSilenceDbov || high - low > rules.floorSteadyDb) continue;
    const floor = meanDb(window);
    if (floor > loud - rules.floorBelowLoudDb) continue;
    found.push(floor);
    uneven.push((percentile(smoothed(window), 0.95) ?? floor) - floor);
  }
  const db = percentile(Float32Array.from(found), 0.2);
  // A long consonant is steady too, but other sounds are softer.
  if (db === undefined || (percentile(audible, 0.03) ?? 0) < db - rules.floorBottomDb) return undefined;
  return { db, unevenDb: percentile(Float32Array.from(uneven), 0.9) ?? 0 };
}

function percentile(values: Float32Array, share: number): number | undefined {
  const sorted = Float32Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** The level of several steps together, in dBov. */
export function meanDb(levels: Float32Array): number {
  let power = 0;
  for (const level of levels) power += 10 ** (level / 10);
  return 10 * Math.log10(Math.max(1e-10, power / Math.max(1, levels.length)));
}
