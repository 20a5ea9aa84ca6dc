import { sampleRate } from '../../protocol/audio-format.ts';

/** Shortens waiting audio that a network gap has made late: a little in speech, more in its pauses. */
export interface CatchUp {
  /** A gap is over: audio that waits from now on may be late. */
  begin(now: number): void;
  /** Whether audio is, or may be, late because of a gap. */
  isNeeded(now: number): boolean;
  /**
   * How many samples to leave out at the start of the waiting audio so that the sound continues smoothly; 0 if none.
   * `excessMs`: how much is too late. `peek` returns waiting samples, −1 to 1.
   */
  next(now: number, excessMs: number, peek: (count: number) => Float32Array): number;
  stop(): void;
}

/** At most this much is left out of each second of speech, like in WebRTC's NetEq. */
const mostPerSecondMs = 100;
/** After this long without late audio the gap has no further effect. */
const quietMs = 1_000;
/** The length of pieces that may be left out: one or more periods of a voice. */
const shortest = inSamples(5);
const longest = inSamples(20);
/** The length of the seam, in which audio before and after the piece is compared. */
export const seamSamples = inSamples(10);
/** For samples from −1 to 1. Below −50 dBFS there is a pause; above it speech has not ended. */
export const audibleLevel = 0.003;
/** Seams with less likeness than this must be at least this far apart. */
const alike = 0.7;
const seamsApartMs = 40;
/** A longer piece is preferred if its likeness is lower by less than this: it makes fewer seams. */
const nearlyAlike = 0.1;

export function createCatchUp(): CatchUp {
  let until = Number.NEGATIVE_INFINITY;
  let cutAt = Number.NEGATIVE_INFINITY;
  /** Whether nothing has been played since the gap: leaving out a piece now makes no seam. */
  let isAfterSilence = false;
  /** What was left out of speech within the last second. */
  let leftOut: { at: number; ms: number }[] = [];

  const inSpeech = (now: number, samples: Float32Array, most: number) => {
    leftOut = leftOut.filter(({ at }) => now - at < 1_000);
    const allowed = inSamples(mostPerSecondMs - leftOut.reduce((sum, { ms }) => sum + ms, 0));
    const cut = findCut(samples, Math.min(most, longest, allowed));
    if (cut === undefined) return 0;
    if (!isAfterSilence && cut.likeness < alike && now - cutAt < seamsApartMs) return 0;
    cutAt = now;
    const length = isAfterSilence ? Math.min(most, allowed) : cut.length;
    leftOut.push({ at: now, ms: (length * 1_000) / sampleRate });
    return length;
  };
  return {
    begin(now) {
      until = now + quietMs;
      isAfterSilence = true;
    },
    isNeeded: (now) => now < until,
    next(now, excessMs, peek) {
      const most = Math.floor(inSamples(excessMs));
      const samples = peek(longest + seamSamples);
      let count = 0;
      if (most >= shortest && samples.length === longest + seamSamples) {
        until = now + quietMs;
        const isPause = samples.every((one) => Math.abs(one) < audibleLevel);
        count = isPause ? Math.min(most, longest) : inSpeech(now, samples, most);
      }
      isAfterSilence = false;
      return count;
    },
    stop() {
      until = Number.NEGATIVE_INFINITY;
    },
  };
}

function inSamples(ms: number): number {
  return (ms * sampleRate) / 1_000;
}

/** The piece at the start after which the audio is most like before it. */
function findCut(samples: Float32Array, most: number): { length: number; likeness: number } | undefined {
  const likenesses: number[] = [];
  for (let length = shortest; length <= most; length += 1) {
    let [product, before, after] = [0, 0, 0];
    for (let index = 0; index < seamSamples; index += 2) {
      const one = samples[index] ?? 0;
      const other = samples[index + length] ?? 0;
      product += one * other;
      before += one * one;
      after += other * other;
    }
    likenesses.push(before * after === 0 ? 0 : product / Math.sqrt(before * after));
  }
  const best = Math.max(...likenesses);
  const index = likenesses.findLastIndex((one) => one >= best - nearlyAlike);
  const likeness = likenesses[index];
  return likeness === undefined ? undefined : { length: shortest + index, likeness };
}
