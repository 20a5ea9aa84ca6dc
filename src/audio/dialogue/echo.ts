import { dialogueRules as rules } from './rules.ts';

const longestLagMs = 500;
/** As much of the conversation is compared. */
const comparedMs = 60_000;
const shortestMs = 500;
/** Two voices of one room are less alike. */
const likeFrom = 0.95;

/** Whether the AI's side is the user's, a little later: its levels follow those of the user. */
export function isEcho(user: Float32Array, ai: Float32Array): boolean {
  const first = user.findIndex((level) => level > rules.softestDbov);
  if (first < 0) return false;
  const said = clip(user.subarray(first, first + comparedMs / rules.stepMs));
  const audible = ai.filter((level) => level > rules.softestDbov).length * rules.stepMs;
  if (audible < shortestMs) return false;
  for (let lag = 0; lag <= longestLagMs / rules.stepMs; lag += 1) {
    const from = first + lag;
    if (from + shortestMs / rules.stepMs > ai.length) break;
    if (likeness(said, clip(ai.subarray(from, from + said.length))) >= likeFrom) return true;
  }
  return false;
}

/** Below the softest speech all levels are alike. */
function clip(levels: Float32Array): Float32Array {
  return levels.map((level) => Math.max(rules.softestDbov, level));
}

/** The correlation of two tracks of levels, up to the end of the shorter one. */
function likeness(a: Float32Array, b: Float32Array): number {
  const count = Math.min(a.length, b.length);
  let [sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0];
  for (let index = 0; index < count; index += 1) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    sumA += x;
    sumB += y;
    sumAA += x * x;
    sumBB += y * y;
    sumAB += x * y;
  }
  const spread = Math.sqrt((sumAA - sumA ** 2 / count) * (sumBB - sumB ** 2 / count));
  return spread <= 0 ? 0 : (sumAB - (sumA * sumB) / count) / spread;
}
