import { sampleRate } from '../../protocol/audio-format.ts';

/** Shortens waiting audio that a hole in the network has made late: by a little in speech, by more in its pauses. */
export interface CatchUp {
  /** A hole is over: what waits from now on may be late. */
  begin(now: number): void;
  /** Whether audio is late because of a hole, or may be. */
  isNeeded(now: number): boolean;
  /**
   * How many samples to leave out at the start of what waits, so that its sound goes on alike. 0 if none. `excessMs`: how
   * much is too late. `peek` shows waiting samples, −1 to 1.
   */
  next(now: number, excessMs: number, peek: (count: number) => Float32Array): number;
  stop(): void;
}

/** At most so much is left out of each second of speech, as NetEq of WebRTC does. */
const mostPerSecondMs = 100;
/** After this long without late audio the hole has done no harm. */
const quietMs = 1_000;
/** The pieces that may be left out: a period of a voice, or several. */
const shortest = (sampleRate * 5) / 1_000;
const longest = (sampleRate * 20) / 1_000;
/** The seam: audio before and after the piece is alike for this long. */
export const seamSamples = (sampleRate * 10) / 1_000;
/** Below −50 dBFS there is a pause. */
const audibleLevel = 0.003;
/** If nothing is as much alike, the seam waits for the next frames, but not for longer than `patienceMs`. */
const alike = 0.7;
const patienceMs = 60;

export function createCatchUp(): CatchUp {
  let until = Number.NEGATIVE_INFINITY;
  let triedSince: number | undefined;
  /** What was left out of speech within the last second. */
  let leftOut: { at: number; ms: number }[] = [];

  const inSpeech = (now: number, samples: Float32Array, most: number) => {
    leftOut = leftOut.filter(({ at }) => now - at < 1_000);
    const allowedMs = mostPerSecondMs - leftOut.reduce((sum, { ms }) => sum + ms, 0);
    const cut = findCut(samples, Math.min(most, (allowedMs * sampleRate) / 1_000));
    if (cut === undefined) return 0;
    triedSince ??= now;
    if (cut.likeness < alike && now - triedSince < patienceMs) return 0;
    triedSince = undefined;
    leftOut.push({ at: now, ms: (cut.length * 1_000) / sampleRate });
    return cut.length;
  };
  return {
    begin(now) {
      until = now + quietMs;
      triedSince = undefined;
    },
    isNeeded: (now) => now < until,
    next(now, excessMs, peek) {
      const most = Math.min(longest, Math.floor((excessMs * sampleRate) / 1_000));
      if (most < shortest) return 0;
      until = now + quietMs;
      const samples = peek(longest + seamSamples);
      if (samples.length < most + seamSamples) return 0;
      const isPause = samples.subarray(0, most + seamSamples).every((one) => Math.abs(one) < audibleLevel);
      return isPause ? most : inSpeech(now, samples, most);
    },
    stop() {
      until = Number.NEGATIVE_INFINITY;
    },
  };
}

/** The piece at the start after which the audio goes on most like before it. */
function findCut(samples: Float32Array, most: number): { length: number; likeness: number } | undefined {
  let best: { length: number; likeness: number } | undefined;
  for (let length = shortest; length <= most; length += 1) {
    let [product, before, after] = [0, 0, 0];
    for (let index = 0; index < seamSamples; index += 2) {
      const one = samples[index] ?? 0;
      const other = samples[index + length] ?? 0;
      product += one * other;
      before += one * one;
      after += other * other;
    }
    const likeness = before * after === 0 ? 0 : product / Math.sqrt(before * after);
    if (best === undefined || likeness > best.likeness) best = { length, likeness };
  }
  return best;
}
