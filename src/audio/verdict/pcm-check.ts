import { bytesForMs, bytesPerSample, sampleRate } from '../../protocol/audio-format.ts';
import { recogniseForeignFile } from '../foreign-file.ts';
import { amplitudeOf, audibleDbfs } from '../level.ts';
import { isWavForm } from '../wav/wav-header.ts';
import { recogniseText } from './audio-as-text.ts';
import { recogniseFormat, type WrongFormat } from './recognise-format.ts';

/** The kind of a stream whose first message does not begin with samples. */
type Container = 'riff-header' | 'compressed' | 'base64' | 'json';

/** Mistakes that can be seen in the audio itself. */
export type PcmFinding = Container | WrongFormat | 'stereo' | 'clipping' | 'dc-offset' | 'silence' | 'quiet';

/** Sums over one second of audio, which is then judged. */
interface Window {
  /** All samples, and the examined ones. */
  samples: number;
  seen: number;
  sum: number;
  /** Sums of the sizes of samples, and of the steps between them. */
  sizes: number;
  steps: number;
  peak: number;
  clipped: number;
  /** Sums of the steps within pairs of samples, and between pairs. */
  stepsWithin: number;
  stepsBetween: number;
}

const windowSamples = sampleRate;
/** Audio with a lower peak is silence. */
const audiblePeak = amplitudeOf(audibleDbfs);
/** Speech is louder than this: −40 dBFS. */
export const speechPeak = 330;
/** After this time without sound, or without sound that is loud enough, the microphone is off or far away. */
const patienceMs = 5_000;
/** After each examined message this many times its length is skipped, up to a bound: cheap, and enough for sums. */
const unseenLengths = 7;
const maxUnseenBytes = bytesForMs(140);
/** The first windows are all examined; later ones only at intervals, to keep the cost low. */
const denseWindows = 10;
const sparseStep = 8;
/** This many messages with the same result decide on a format. After `mostProbes` without a result the search ends. */
const enoughVotes = 4;
const mostProbes = 25;
/** At the end of short audio fewer messages decide. Less audio than 60 ms shows nothing. */
const fewVotes = 2;
const leastSamples = bytesForMs(60) / bytesPerSample;
/** From one tested message to the next, in bytes of audio: a test costs more than everything else for a frame. */
const betweenProbes = bytesForMs(60);
/** After each unsuccessful search the next one waits longer, up to this many examined windows: music stays music. */
const longestRest = 4;

const nothing: readonly never[] = [];

/** Detects typical firmware mistakes. State: a few dozen numbers. */
export class PcmCheck {
  /** Whether anything was louder than silence. */
  hasSound = false;
  private readonly found = new Set<PcmFinding>();
  private readonly window = openWindow();
  private windows = 0;
  private isFirst = true;
  /** Whether the last message ended within a sample: the next sample begins with the second byte of a message. */
  private isCut = false;
  /** Bytes still to skip, and bytes skipped since the last examined message. */
  private unseen = 0;
  private passed = 0;
  /** Bytes until the next message is tested for its format. */
  private untilProbe = 0;
  /** How many messages to test, how many of them were noise, and the results so far. */
  private probes = mostProbes;
  private noisy = 0;
  private isDecided = false;
  private readonly votes = new Map<WrongFormat | 'pcm', number>();
  /** How many windows there are until the next search, and how long the last rest was. */
  private rest = 0;
  private lastRest = 0;
  /** Whether something as loud as speech was heard; when silence and any sound began, in whole milliseconds. */
  private isHeard = false;
  private silentSince = -1;
  private audibleSince = -1;
  private windowSince = -1;

  private readonly isWhole: boolean;

  /** `isWhole`: examines all of the first second, because the audio may not be longer. */
  constructor({ isWhole = false }: { isWhole?: boolean } = {}) {
    this.isWhole = isWhole;
  }

  /** Takes audio that arrived at `now`, in whole milliseconds; returns new findings. */
  push(message: Buffer, now: number): readonly PcmFinding[] {
    const start = this.isCut ? 1 : 0;
    if (message.length % bytesPerSample !== 0) this.isCut = !this.isCut;
    if (this.windowSince < 0) this.windowSince = now;
    if (this.unseen > 0) {
      this.unseen -= message.length;
      this.passed += message.length;
      return this.probes === 0 ? nothing : this.probe(message, start);
    }
    const isSeenWhole = this.isWhole && this.windows === 0;
    this.unseen = isSeenWhole ? 0 : Math.min(unseenLengths * message.length, maxUnseenBytes);
    return this.look(message, start, now);
  }

  private look(message: Buffer, start: number, now: number): readonly PcmFinding[] {
    const { window } = this;
    const isDense = this.windows < denseWindows || this.windows % sparseStep === 0;
    // Silence is measured without interruption.
    const isLookedAt = isDense || this.silentSince >= 0;
    window.samples += Math.floor(this.passed / bytesPerSample);
    this.passed = 0;
    if (isLookedAt) addMessage(window, message, start);
    else window.samples += Math.floor(message.length / bytesPerSample);
    if (this.isFirst) {
      this.isFirst = false;
      const container = recogniseContainer(message);
      // Text has no sample format, but audio after a header has.
      if (container !== undefined && container !== 'riff-header') this.probes = 0;
      if (container !== undefined) return this.addFinding(container, true);
    }
    const format = this.probes > 0 ? this.probe(message, start) : nothing;
    if (window.samples < windowSamples) return format;
    const findings = isLookedAt ? this.judge(now) : nothing;
    this.windows += 1;
    this.windowSince = now;
    Object.assign(window, openWindow());
    return [...format, ...findings];
  }

  /** Tests the format of one message, until enough results agree. */
  private probe(message: Buffer, start: number): readonly PcmFinding[] {
    this.untilProbe -= message.length;
    if (this.untilProbe > 0) return nothing;
    this.untilProbe = betweenProbes;
    this.probes -= 1;
    // Audio that is sent as text and silent at first is recognised only later.
    const isText = isLetter(message[0]) && recogniseText(message.toString('latin1')) === 'base64';
    if (isText) {
      this.probes = 0;
      this.isDecided = true;
      return this.addFinding('base64', true);
    }
    const format = recogniseFormat(message, start);
    if (format === 'noise') this.noisy += 1;
    if (format === 'noise' || format === 'unclear') return this.endInVain();
    const votes = (this.votes.get(format) ?? 0) + 1;
    this.votes.set(format, votes);
    if (votes < enoughVotes) return this.endInVain();
    this.probes = 0;
    this.isDecided = true;
    this.lastRest = 0;
    this.votes.clear();
    return format === 'pcm' ? nothing : this.addFinding(format, true);
  }

  /**
   * Call it at the end of the audio: judges the rest of the last second, and lets fewer messages decide on a format if they
   * agree.
   */
  end(now: number): readonly PcmFinding[] {
    const [format] = this.votes.size === 1 ? this.votes : [];
    const isShort = !this.isDecided && format !== undefined && format[1] >= fewVotes;
    this.probes = 0;
    const ofFormat = isShort && format[0] !== 'pcm' ? this.addFinding(format[0], true) : nothing;
    return this.window.seen < leastSamples ? ofFormat : [...ofFormat, ...this.judge(now)];
  }

  /** Ends the search after the last probe. Silence is not a reason to rest: sound may follow. */
  private endInVain(): readonly never[] {
    if (this.probes > 0) return nothing;
    this.lastRest = this.noisy > mostProbes / 2 ? Math.min(2 * this.lastRest + 1, longestRest) : 0;
    this.rest = this.lastRest;
    return nothing;
  }

  private search(): void {
    this.rest -= 1;
    if (this.rest >= 0) return;
    this.probes = mostProbes;
    this.noisy = 0;
  }

  private judge(now: number): PcmFinding[] {
    const { seen, sum, sizes, steps, peak, clipped, stepsWithin, stepsBetween } = this.window;
    if (peak < audiblePeak) return this.judgeSilence(now);
    this.hasSound = true;
    this.silentSince = -1;
    if (peak >= speechPeak) this.isHeard = true;
    if (this.audibleSince < 0) this.audibleSince = this.windowSince;
    // In another format the values of samples mean nothing.
    if (this.hasOtherFormat()) return [];
    const quiet = this.addFinding('quiet', !this.isHeard && now - this.audibleSince >= patienceMs);
    if (this.probes > 0) return quiet;
    // Noise may mean that samples are misread from now on, and audio that was too quiet to test may be loud now.
    const isNoise = steps > sizes;
    if (isNoise || !this.isDecided) this.search();
    if (isNoise) return quiet;
    const isClipped = clipped > seen / 200;
    return [
      // Left and right are close to each other, and the next pair is further away.
      ...this.addFinding('stereo', stepsBetween > 4 * stepsWithin),
      ...this.addFinding('clipping', isClipped),
      // Clipping is uneven, which moves the mean.
      ...this.addFinding('dc-offset', !isClipped && Math.abs(sum / seen) > 1_000),
      ...quiet,
    ];
  }

  private judgeSilence(now: number): PcmFinding[] {
    if (this.silentSince < 0) this.silentSince = this.windowSince;
    return this.addFinding('silence', !this.isHeard && now - this.silentSince >= patienceMs);
  }

  private hasOtherFormat(): boolean {
    for (const finding of this.found) if (!ofRightSamples.has(finding)) return true;
    return false;
  }

  private addFinding(finding: PcmFinding, isThere: boolean): PcmFinding[] {
    if (!isThere || this.found.has(finding)) return [];
    this.found.add(finding);
    return [finding];
  }
}

/** Findings about samples that are 16-bit little-endian. */
const ofRightSamples: ReadonlySet<PcmFinding> = new Set([
  'riff-header',
  'stereo',
  'clipping',
  'dc-offset',
  'silence',
  'quiet',
]);

/** The kind of the first binary message of a stream, if it is not samples. */
export function recogniseContainer(message: Buffer): Container | undefined {
  if (isWavForm(message.toString('latin1', 0, 4))) return 'riff-header';
  if (recogniseForeignFile(message)?.isCompressed) return 'compressed';
  return recogniseText(message.toString('latin1'));
}

/** Whether a byte may be the first of base64, which is rare for samples. */
function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x2b && byte <= 0x7a;
}

function openWindow(): Window {
  return {
    samples: 0,
    seen: 0,
    sum: 0,
    sizes: 0,
    steps: 0,
    peak: 0,
    clipped: 0,
    stepsWithin: 0,
    stepsBetween: 0,
  };
}

/** Examines a whole message. Pairs of samples are counted from the start of the window, including skipped ones. */
function addMessage(window: Window, message: Buffer, start: number): void {
  const count = Math.floor((message.length - start) / bytesPerSample);
  if (count <= 0) return;
  const samples = new DataView(message.buffer, message.byteOffset + start, message.length - start);
  let { sum, sizes, peak, clipped, steps, stepsBetween } = window;
  let previous = samples.getInt16(0, true);
  for (let index = 0; index < count; index += 1) {
    const sample = samples.getInt16(index * bytesPerSample, true);
    const step = Math.abs(sample - previous);
    steps += step;
    if ((window.samples + index) % 2 === 0) stepsBetween += step;
    const size = Math.abs(sample);
    sum += sample;
    sizes += size;
    peak = Math.max(peak, size);
    if (sample === 0x7fff || sample === -0x8000) clipped += 1;
    previous = sample;
  }
  window.samples += count;
  window.seen += count;
  window.stepsWithin += steps - window.steps - (stepsBetween - window.stepsBetween);
  window.sum = sum;
  window.sizes = sizes;
  window.peak = peak;
  window.clipped = clipped;
  window.steps = steps;
  window.stepsBetween = stepsBetween;
}
