import { bytesForMs, bytesPerSample } from '../protocol/audio-format.ts';
import { createMonoDecoder } from './decode.ts';
import { wireFormat } from './source.ts';

/** What is played, aligned with what a microphone hears, sample by sample. */
export interface Reference {
  /** Takes what goes to the loudspeaker: 16 kHz s16le mono. */
  played(pcm: Buffer): void;
  /** What was played while the microphone delivered `count` samples, −1 to 1. Silence if nothing was played. */
  read(count: number): Float32Array;
}

/** Audio is held back for this long so that frames that come a little late leave no gap. */
export const referenceHoldMs = 20;
const holdSamples = bytesForMs(referenceHoldMs) / bytesPerSample;
/** If more than the hold has waited over this many samples, the microphone has skipped some: the excess is dropped. */
const judgeSamples = bytesForMs(1_000) / bytesPerSample;
/** Maximum audio that waits. A device that takes audio faster than it plays it exceeds this: the oldest is dropped. */
const maxSamples = bytesForMs(500) / bytesPerSample;

export function createReference(): Reference {
  const decode = createMonoDecoder(wireFormat);
  let waiting: number[] = [];
  let hold = 0;
  let judged = 0;
  let least = Number.POSITIVE_INFINITY;
  /** Otherwise an echo would come before the audio that caused it. */
  const dropExcess = (count: number) => {
    judged += count;
    least = Math.min(least, waiting.length);
    if (judged < judgeSamples) return;
    if (least > holdSamples) waiting.splice(0, least - holdSamples);
    [judged, least] = [0, Number.POSITIVE_INFINITY];
  };
  return {
    played(pcm) {
      if (waiting.length === 0) hold = holdSamples;
      for (const sample of decode(pcm)) waiting.push(sample);
      if (waiting.length > maxSamples) waiting = waiting.slice(-maxSamples);
    },
    read(count) {
      const samples = new Float32Array(count);
      const from = Math.min(hold, count);
      hold -= from;
      samples.set(waiting.splice(0, count - from), from);
      dropExcess(count);
      return samples;
    },
  };
}
