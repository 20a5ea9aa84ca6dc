import { bytesPerSample, sampleRate } from '../protocol/audio-format.ts';

/** What is wrong with the audio that a device sends, as far as the audio itself shows it. */
export type PcmFinding = 'riff-header' | 'swapped-bytes' | 'stereo' | 'clipping' | 'dc-offset' | 'silence';

/** Looks for what firmware gets wrong. State: a few dozen numbers. */
export interface PcmCheck {
  /** Takes the audio as it came; returns what was found for the first time. */
  push(message: Buffer): readonly PcmFinding[];
}

/** Sums over one second of audio, in which a decision is made. */
interface Window {
  /** Samples that passed, and those among them that were looked at. */
  samples: number;
  seen: number;
  sum: number;
  peak: number;
  clipped: number;
  /** Of the steps between samples, as they are and with the bytes of each swapped. */
  steps: number;
  swappedSteps: number;
  /** Of the steps within pairs of samples, and between a pair and the next. */
  stepsWithin: number;
  stepsBetween: number;
}

const windowSamples = sampleRate;
/** Quieter than this, −60 dBFS, there is nothing to judge but silence. */
const audiblePeak = 33;
/** This many seconds on end without any sound, while messages come, are a microphone that is not there. */
const silentWindows = 5;
/** Of the audio, in messages of whatever size, one part in so many is looked at; that is cheap, and enough for sums. */
const seenPart = 4;
/** Windows that are looked at from the start; after them only each so-manieth, which keeps the cost down. */
const denseWindows = 10;
const sparseStep = 8;

const nothing: readonly never[] = [];

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
    const { seen, sum, peak, clipped, steps, swappedSteps, stepsWithin, stepsBetween } = window;
    silent = peak < audiblePeak ? silent + 1 : 0;
    if (peak < audiblePeak) return note('silence', silent >= silentWindows);
    const isClipped = clipped > seen / 200;
    return [
      // Swapped bytes are noise at full scale: put right, neighbours are close again.
      ...note('swapped-bytes', steps > 4 * swappedSteps),
      // Left and right are close to each other, and the next pair is not that close.
      ...note('stereo', steps <= 4 * swappedSteps && stepsBetween > 4 * stepsWithin),
      ...note('clipping', isClipped),
      // Clipped audio is cut unevenly, which moves its mean.
      ...note('dc-offset', !isClipped && Math.abs(sum / seen) > 1_000),
    ];
  };

  return {
    push(message) {
      if (isFirst) {
        isFirst = false;
        addMessage(window, message);
        return note('riff-header', message.toString('latin1', 0, 4) === 'RIFF');
      }
      const isLookedAt = windows < denseWindows || windows % sparseStep === 0;
      if (isLookedAt && window.seen * seenPart <= window.samples) addMessage(window, message);
      else window.samples += Math.floor(message.length / bytesPerSample);
      if (window.samples < windowSamples) return nothing;
      const findings = isLookedAt ? judge() : nothing;
      windows += 1;
      window = openWindow();
      return findings;
    },
  };
}

function openWindow(): Window {
  return {
    samples: 0,
    seen: 0,
    sum: 0,
    peak: 0,
    clipped: 0,
    steps: 0,
    swappedSteps: 0,
    stepsWithin: 0,
    stepsBetween: 0,
  };
}

/** Looks at a whole message. Pairs of samples are counted from the start of the window, what was left out included. */
function addMessage(window: Window, message: Buffer): void {
  const count = Math.floor(message.length / bytesPerSample);
  const samples = new DataView(message.buffer, message.byteOffset, message.length);
  let { sum, peak, clipped, steps, swappedSteps, stepsBetween } = window;
  let previous = count === 0 ? 0 : samples.getInt16(0, true);
  let previousSwapped = count === 0 ? 0 : samples.getInt16(0);
  for (let index = 0; index < count; index += 1) {
    const sample = samples.getInt16(index * bytesPerSample, true);
    const swapped = samples.getInt16(index * bytesPerSample);
    const step = Math.abs(sample - previous);
    steps += step;
    if ((window.samples + index) % 2 === 0) stepsBetween += step;
    swappedSteps += Math.abs(swapped - previousSwapped);
    sum += sample;
    peak = Math.max(peak, Math.abs(sample));
    if (sample === 0x7fff || sample === -0x8000) clipped += 1;
    previous = sample;
    previousSwapped = swapped;
  }
  window.samples += count;
  window.seen += count;
  window.stepsWithin += steps - window.steps - (stepsBetween - window.stepsBetween);
  window.sum = sum;
  window.peak = peak;
  window.clipped = clipped;
  window.steps = steps;
  window.swappedSteps = swappedSteps;
  window.stepsBetween = stepsBetween;
}
