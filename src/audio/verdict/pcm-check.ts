import { bytesForMs, bytesPerSample, sampleRate } from '../../protocol/audio-format.ts';

/** What is wrong with the audio that a device sends, as far as the audio itself shows it. */
export type PcmFinding = 'riff-header' | 'swapped-bytes' | 'stereo' | 'clipping' | 'dc-offset' | 'silence';

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
/** After a message that was looked at, so many of its length pass unseen, up to a bound: that is cheap, and enough for sums. */
const unseenLengths = 7;
const maxUnseenBytes = bytesForMs(140);
/** Windows that are looked at from the start; after them only each so-manieth, which keeps the cost down. */
const denseWindows = 10;
const sparseStep = 8;

const nothing: readonly never[] = [];

/** Looks for what firmware gets wrong. State: a few dozen numbers. */
export class PcmCheck {
  private readonly found = new Set<PcmFinding>();
  private readonly window = openWindow();
  private windows = 0;
  private silent = 0;
  private isFirst = true;
  /** Bytes that pass unseen from now on, and that did since a message was looked at. */
  private unseen = 0;
  private passed = 0;

  /** Takes the audio as it came; returns what was found for the first time. */
  push(message: Buffer): readonly PcmFinding[] {
    if (this.unseen > 0) {
      this.unseen -= message.length;
      this.passed += message.length;
      return nothing;
    }
    this.unseen = Math.min(unseenLengths * message.length, maxUnseenBytes);
    return this.look(message);
  }

  private look(message: Buffer): readonly PcmFinding[] {
    const { window } = this;
    // Silence is counted in seconds on end.
    const isLookedAt = this.windows < denseWindows || this.windows % sparseStep === 0 || this.silent > 0;
    window.samples += Math.floor(this.passed / bytesPerSample);
    this.passed = 0;
    if (isLookedAt) addMessage(window, message);
    else window.samples += Math.floor(message.length / bytesPerSample);
    if (this.isFirst) {
      this.isFirst = false;
      return this.note('riff-header', message.toString('latin1', 0, 4) === 'RIFF');
    }
    if (window.samples < windowSamples) return nothing;
    const findings = isLookedAt ? this.judge() : nothing;
    this.windows += 1;
    Object.assign(window, openWindow());
    return findings;
  }

  private judge(): PcmFinding[] {
    const { seen, sum, peak, clipped, steps, swappedSteps, stepsWithin, stepsBetween } = this.window;
    this.silent = peak < audiblePeak ? this.silent + 1 : 0;
    if (peak < audiblePeak) return this.note('silence', this.silent >= silentWindows);
    const isClipped = clipped > seen / 200;
    return [
      // Swapped bytes are noise at full scale: put right, neighbours are close again.
      ...this.note('swapped-bytes', steps > 4 * swappedSteps),
      // Left and right are close to each other, and the next pair is not that close.
      ...this.note('stereo', steps <= 4 * swappedSteps && stepsBetween > 4 * stepsWithin),
      ...this.note('clipping', isClipped),
      // Clipped audio is cut unevenly, which moves its mean.
      ...this.note('dc-offset', !isClipped && Math.abs(sum / seen) > 1_000),
    ];
  }

  private note(finding: PcmFinding, isThere: boolean): PcmFinding[] {
    if (!isThere || this.found.has(finding)) return [];
    this.found.add(finding);
    return [finding];
  }
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
