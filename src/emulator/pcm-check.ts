import { bytesPerSample, sampleRate } from '../protocol/audio-format.ts';

/** What is wrong with the audio that a device sends, as far as the audio itself shows it. */
export type PcmFinding = 'riff-header' | 'swapped-bytes' | 'stereo' | 'clipping' | 'dc-offset' | 'silence';

/** Looks for what firmware gets wrong. State: a few dozen numbers. */
export interface PcmCheck {
  /** Takes the audio as it came; returns what was found for the first time. */
  push(message: Buffer): PcmFinding[];
}

/** Sums over one second of audio, in which a decision is made. */
interface Window {
  samples: number;
  sum: number;
  peak: number;
  clipped: number;
  /** Of the steps between samples, as they are and with the bytes of each swapped. */
  steps: number;
  swappedSteps: number;
  /** Of the steps within pairs of samples, and between a pair and the next. */
  stepsWithin: number;
  stepsBetween: number;
  previous: number;
  previousSwapped: number;
}

const windowSamples = sampleRate;
/** Quieter than this, −60 dBFS, there is nothing to judge but silence. */
const audiblePeak = 33;
/** This many seconds on end without any sound, while messages come, are a microphone that is not there. */
const silentWindows = 5;
/** Windows that are looked at from the start; after them only each so-manieth, which keeps the cost down. */
const denseWindows = 10;
const sparseStep = 8;

export function createPcmCheck(): PcmCheck {
  const found = new Set<PcmFinding>();
  let window = openWindow();
  let windows = 0;
  let silent = 0;
  let isFirst = true;

  const note = (finding: PcmFinding, isThere: boolean): PcmFinding[] => {
    if (!isThere || found.has(finding)) return [];
    found.add(finding);
    return [finding];
  };

  const judge = (): PcmFinding[] => {
    const { samples, sum, peak, clipped, steps, swappedSteps, stepsWithin, stepsBetween } = window;
    silent = peak < audiblePeak ? silent + 1 : 0;
    if (peak < audiblePeak) return note('silence', silent >= silentWindows);
    const isClipped = clipped > samples / 200;
    return [
      // Swapped bytes are noise at full scale: put right, neighbours are close again.
      ...note('swapped-bytes', steps > 4 * swappedSteps),
      // Left and right are close to each other, and the next pair is not that close.
      ...note('stereo', steps <= 4 * swappedSteps && stepsBetween > 4 * stepsWithin),
      ...note('clipping', isClipped),
      // Clipped audio is cut unevenly, which moves its mean.
      ...note('dc-offset', !isClipped && Math.abs(sum / samples) > 1_000),
    ];
  };

  return {
    push(message) {
      const findings = isFirst ? note('riff-header', message.toString('latin1', 0, 4) === 'RIFF') : [];
      isFirst = false;
      const isLookedAt = windows < denseWindows || windows % sparseStep === 0;
      if (isLookedAt) addSamples(window, message);
      else window.samples += Math.floor(message.length / bytesPerSample);
      if (window.samples < windowSamples) return findings;
      if (isLookedAt) findings.push(...judge());
      windows += 1;
      window = openWindow();
      return findings;
    },
  };
}

function openWindow(): Window {
  return {
    samples: 0,
    sum: 0,
    peak: 0,
    clipped: 0,
    steps: 0,
    swappedSteps: 0,
    stepsWithin: 0,
    stepsBetween: 0,
    previous: 0,
    previousSwapped: 0,
  };
}

function addSamples(window: Window, message: Buffer): void {
  let {
    samples,
    sum,
    peak,
    clipped,
    steps,
    swappedSteps,
    stepsWithin,
    stepsBetween,
    previous,
    previousSwapped,
  } = window;
  for (let offset = 0; offset + 1 < message.length; offset += bytesPerSample) {
    const low = message[offset] ?? 0;
    const high = message[offset + 1] ?? 0;
    const sample = ((high << 24) >> 16) | low;
    const swapped = ((low << 24) >> 16) | high;
    const step = Math.abs(sample - previous);
    if (samples % 2 === 1) stepsWithin += step;
    else stepsBetween += step;
    steps += step;
    swappedSteps += Math.abs(swapped - previousSwapped);
    sum += sample;
    const size = Math.abs(sample);
    if (size > peak) peak = size;
    if (sample === 0x7fff || sample === -0x8000) clipped += 1;
    previous = sample;
    previousSwapped = swapped;
    samples += 1;
  }
  Object.assign(window, {
    samples,
    sum,
    peak,
    clipped,
    steps,
    swappedSteps,
    stepsWithin,
    stepsBetween,
    previous,
    previousSwapped,
  });
}
