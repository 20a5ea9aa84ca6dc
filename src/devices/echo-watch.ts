import { createBlockJoiner } from '../audio/blocks.ts';
import { createReference, referenceHoldMs } from '../audio/reference.ts';
import { bytesPerSample, msForBytes } from '../protocol/audio-format.ts';
import { findSamples } from './locate-sound.ts';
import type { Notices } from './notices.ts';

/** Detects that the AI hears itself: what is played comes back through the microphone. */
export interface EchoWatch {
  /** Takes what goes to the loudspeaker. */
  played(pcm: Buffer): void;
  /** Takes what the microphone heard. */
  heard(pcm: Buffer): void;
}

/** The search runs at an eighth of the sample rate: speech is loudest below 1 kHz. */
const everySample = 8;
const stepMs = msForBytes(everySample * bytesPerSample);
const windowSamples = 2_000 / stepMs;
const longestDelaySamples = 600 / stepMs;
/** The reference is late by this much, so an echo over a shorter path comes before it. */
const heldSamples = referenceHoldMs / stepMs;
/** Audio below −50 dBFS cannot be found again. */
const leastLevel = 0.003;
/** More than chance. The room changes the sound, and others may speak. */
const leastLikeness = 0.5;
/** Two windows in a row must show the same delay. */
const sameDelayMs = 10;

/** Reports the echo once, with its delay and its level. */
export function createEchoWatch({ emit }: Notices): EchoWatch {
  const reference = createReference();
  const joiner = createBlockJoiner(everySample * bytesPerSample);
  let played: number[] = [];
  let heard: number[] = [];
  let before: number | undefined;
  let isReported = false;

  const judge = () => {
    const wanted = Float64Array.from(played.slice(heldSamples, -longestDelaySamples));
    const found = levelOf(wanted) < leastLevel ? undefined : findSamples(wanted, Float64Array.from(heard));
    const echo = found !== undefined && found.likeness >= leastLikeness ? found : undefined;
    [played, heard] = [[], []];
    const delayMs = echo && echo.at * stepMs;
    const isSame = delayMs !== undefined && before !== undefined && Math.abs(delayMs - before) <= sameDelayMs;
    before = delayMs;
    if (!isSame || echo === undefined) return;
    isReported = true;
    emit({
      code: 'echo',
      message: `The AI hears itself: the microphone picks up the loudspeaker ${Math.round(delayMs)} ms later, ${describeGain(20 * Math.log10(echo.gain))}`,
      hint: 'Use headphones, or --aec to remove the echo.',
    });
  };
  return {
    played(pcm) {
      if (!isReported) reference.played(pcm);
    },
    heard(pcm) {
      if (isReported) return;
      const whole = joiner.push(pcm);
      const count = whole.length / bytesPerSample;
      const samples = reference.read(count);
      for (let at = 0; at < count; at += everySample) {
        let [ofPlayed, ofHeard] = [0, 0];
        for (let index = at; index < at + everySample; index += 1) {
          ofPlayed += samples[index] ?? 0;
          ofHeard += whole.readInt16LE(index * bytesPerSample) / 0x8000;
        }
        played.push(ofPlayed / everySample);
        heard.push(ofHeard / everySample);
      }
      if (heard.length >= windowSamples) judge();
    },
  };
}

function levelOf(samples: Float64Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

function describeGain(gainDb: number): string {
  const db = Math.round(Math.abs(gainDb));
  if (db === 0) return 'equally loud';
  return gainDb < 0 ? `${db} dB quieter` : `${db} dB louder`;
}
