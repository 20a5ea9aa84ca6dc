import { type Background, backgroundOf, cutSteps, evidenceIn, reachSteps } from './background.ts';
import { dialogueRules as rules } from './rules.ts';
import type { SoundSpan } from './sound-spans.ts';
import type { SideLevels } from './step-levels.ts';

const { stepMs } = rules;

/**
 * Where a side makes a sound: it exceeds a gate above its background, and lasts from the first to the last step whose bands
 * differ from the background. Sounds are in order and do not touch.
 */
export function findSounds(side: SideLevels): SoundSpan[] {
  const active = findActive(side);
  const runs = joinSteps(active, rules.soundJoinMs);
  const isLong = ({ activeMs }: Run) => activeMs >= rules.shortestSoundMs;
  return runs
    .filter((run, index) => isLong(run) || isNearLong(runs, index, isLong))
    .map(({ startMs, endMs }) => ({ startMs, endMs }));
}

interface Run extends SoundSpan {
  activeMs: number;
}

function joinSteps(active: Uint8Array, pauseMs: number): Run[] {
  const runs: Run[] = [];
  for (let step = 0; step < active.length; step += 1) {
    if (active[step] === 0) continue;
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
function findActive(side: SideLevels): Uint8Array {
  const active = new Uint8Array(side.levels.length);
  const sideBackground = backgroundOf(side);
  for (const [from, to] of islandsOf(side.levels)) {
    const island = cutSteps(side, from, to);
    const background = backgroundOf(island) ?? sideBackground;
    const marks = active.subarray(from, to);
    if (background === undefined) {
      for (let step = 0; step < marks.length; step += 1)
        if ((island.levels[step] as number) > rules.softestDbov) marks[step] = 1;
    } else mark(island, background, marks);
  }
  return active;
}

/** Steps that are above a background, from `from` to before `to`. */
interface Stretch {
  from: number;
  to: number;
  isSound: boolean;
  /** Whether it is speech if a sound is near. */
  isSoft: boolean;
}

/** Marks each stretch above the background that has a step above the gate, and soft stretches near it. */
function mark(side: SideLevels, background: Background, marks: Uint8Array): void {
  const stretches = stretchesOf(side, background);
  const isNear = ({ from, to }: Stretch) =>
    stretches.some(
      (other) => other.isSound && Math.max(from - other.to, other.from - to) * stepMs <= rules.softNearMs,
    );
  const hides = background.db > rules.softestDbov;
  // Audio that is cut off has no soft end in the background.
  const isLow = (at: number) => (side.levels[at] ?? 0) < background.db + rules.hiddenBelowDb;
  const hiddenAt = (at: number) => (hides && isLow(at) ? rules.hiddenMs / stepMs : 0);
  for (const one of stretches) {
    const { from, to } = one;
    if (one.isSound || (one.isSoft && isNear(one)))
      marks.fill(1, Math.max(0, from - hiddenAt(from)), to + hiddenAt(to - 1));
  }
}

function stretchesOf(side: SideLevels, background: Background): Stretch[] {
  const { levels } = side;
  const gate = Math.max(rules.softestDbov, background.db + rules.aboveFloorDb);
  const edge = Math.max(rules.edgeEvidence, background.uneven);
  const around = evidenceIn(side, background, reachSteps);
  const aloneIn = (from: number, to: number) => evidenceIn(cutSteps(side, from, to), background, 0);
  const isOver = (step: number) => (around[step] ?? 0) > edge;
  const stretches: Stretch[] = [];
  for (let step = 0; step < levels.length; step += 1) {
    if (!isOver(step)) continue;
    let [from, to] = [step, step];
    let [isSound, isSoft] = [false, false];
    for (; to < levels.length && isOver(to); to += 1) {
      isSound ||= (levels[to] ?? 0) > gate;
      isSoft ||= (around[to] ?? 0) > rules.softEvidence + edge;
    }
    step = to;
    if (!isSound && !isSoft) continue;
    const isSoftest = (at: number) => (levels[at] ?? 0) <= rules.softestDbov;
    while (from < to && isSoftest(from)) from += 1;
    while (to > from && isSoftest(to - 1)) to -= 1;
    const head = aloneIn(from, Math.min(to, from + edgeSteps));
    const tail = aloneIn(Math.max(from, to - edgeSteps), to).reverse();
    [from, to] = [from + quietSteps(head), to - quietSteps(tail)];
    if (from < to) stretches.push({ from, to, isSound, isSoft });
  }
  return stretches;
}

/** How many steps at the edge of a sound may be background, because they were examined together with it. */
const edgeSteps = reachSteps + 2;

/**
 * How many steps at the beginning are background. The sound begins where the evidence of single steps starts to grow by more
 * than the background produces.
 */
function quietSteps(evidence: Float32Array): number {
  let [sum, least, quiet] = [0, 0, 0];
  for (const [step, one] of evidence.entries()) {
    sum += one - rules.stepEvidence;
    if (sum <= least) [least, quiet] = [sum, step + 1];
  }
  return quiet;
}

/** Stretches between long digital silences. Each may have its own background. */
function islandsOf(levels: Float32Array): [from: number, to: number][] {
  const longest = rules.floorWindowMs / stepMs;
  const islands: [from: number, to: number][] = [];
  for (let step = 0; step < levels.length; step += 1) {
    if ((levels[step] as number) <= rules.digitalSilenceDbov) continue;
    const last = islands.at(-1);
    if (last !== undefined && step - last[1] < longest) last[1] = step + 1;
    else islands.push([step, step + 1]);
  }
  return islands;
}
