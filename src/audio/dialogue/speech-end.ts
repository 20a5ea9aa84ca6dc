import type { AiSpeech, SpeechEnd } from './dialogue.ts';
import { dialogueRules as rules } from './rules.ts';
import type { SoundSpan } from './sound-spans.ts';
import { meanDb } from './step-levels.ts';

/** How each stretch of the AI's speech ended. `stops`: when the service said that it was interrupted. */
export function findAiSpeech(
  levels: Float32Array,
  speech: readonly SoundSpan[],
  stops: readonly number[],
): AiSpeech[] {
  const activeDb = meanDb(Float32Array.from(speech.flatMap((one) => [...levelsIn(levels, one)])));
  return speech.map((one) => ({ ...one, end: endOf(one) }));

  function endOf({ startMs, endMs }: SoundSpan): SpeechEnd {
    const isStopped = stops.some((at) => at > startMs && Math.abs(at - endMs) <= rules.stopMessageMs);
    if (isStopped || isAbrupt(levels, endMs / rules.stepMs, activeDb)) return 'cut';
    return levels.length * rules.stepMs - endMs < rules.aiSilentMs ? 'open' : 'ended';
  }
}

function levelsIn(levels: Float32Array, { startMs, endMs }: SoundSpan): Float32Array {
  return levels.subarray(startMs / rules.stepMs, endMs / rules.stepMs);
}

/** Of a pitch of 100 Hz every second step of 5 ms is loud: levels are compared over 20 ms. */
const comparedSteps = 20 / rules.stepMs;

/** Whether speech that ends before step `end` does not decay. */
function isAbrupt(levels: Float32Array, end: number, activeDb: number): boolean {
  // The last step may be cut anywhere.
  const lastFrom = end - 1 - comparedSteps;
  const before = levels.subarray(Math.max(0, lastFrom - comparedSteps), Math.max(0, lastFrom));
  const last = levels.subarray(Math.max(0, lastFrom), end - 1);
  const after = levels.subarray(end + 1, end + 1 + comparedSteps);
  if (before.length < comparedSteps || after.length < comparedSteps) return false;
  const lastDb = meanDb(last);
  return (
    lastDb >= activeDb - rules.cutBelowActiveDb &&
    (meanDb(before) - lastDb < rules.cutFallDb || lastDb >= activeDb - rules.cutLoudDb) &&
    lastDb - meanDb(after) >= rules.cutDropDb
  );
}
