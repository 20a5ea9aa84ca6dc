import { bytesPerSample } from '../../protocol/audio-format.ts';
import { dot } from '../resample.ts';
import { sampleAt } from '../sample-at.ts';
import { createFft } from '../transform.ts';

/** The samples in a frame, and from one frame to the next. */
const frameSamples = 1_024;
const hopSamples = 512;
/** The spectrum is measured in the middle of a frame. */
const spectrumSamples = 512;
/** A frame is audible if it is within 30 dB of the loudest frame. */
const audibleShare = 1e-3;
/** Pitch is searched for at half the sample rate, between these lags: 667 to 30 Hz. */
const shortestLag = 12;
const longestLag = 266;
const leastPeriodicity = 0.5;
/** The pitch is the first peak that is nearly as high as the highest. */
const nearlyHighest = 0.85;
/** Products are summed in groups of this many, so silence is appended. */
const paddedBy = 4;
/** The indexes of the spectrum at which bands begin, from 125 Hz to 7.6 kHz, with a constant ratio. */
const edges: readonly number[] = [4, 5, 7, 9, 12, 15, 19, 24, 30, 38, 48, 60, 76, 96, 121, 153, 193, 243];
/** Audio this far below the loudest band is silence. */
const rangeDb = 60;
/** About a second of speech, two thirds of which have a pitch. */
const fewestFrames = 22;

/** Speech varies: tones, hum and a single vowel vary by less than this in a band, on average, in decibels. */
const leastSpreadDb = 4;

/**
 * A linear fit of the logarithm of the rate, relative to 16 kHz, to about 290 recordings of 45 voices (people speaking four
 * languages, synthesis), each read at ten rates, and as through a telephone. For voices that were left out of the fit, the
 * result is within 15 % of the rate in two of three recordings; from 1.5 on it was never wrong about a person.
 */
const fit = {
  offset: -0.182,
  lag: 0.2113,
  levels: [
    0.005, 0.0004, -0.0002, -0.0063, -0.0029, -0.0074, -0.0035, -0.0029, 0.006, -0.01, -0.006, -0.0049,
    0.0026, 0.0009, 0.0072, -0.0038, -0.0076,
  ],
  spreads: [
    -0.0092, 0.0059, 0.0089, 0.0122, 0.0002, -0.0191, -0.0023, 0.0024, -0.0023, -0.002, 0.0002, -0.0005,
    -0.0071, -0.015, -0.025, -0.0137, -0.0245,
  ],
} as const;

/**
 * By what factor a voice in 16 kHz s16le mono sounds too slow: 1.5 if it was recorded at 24 kHz, 1 if it is right. Judges by
 * pitch, and by where the resonances of the mouth are and how much they move. Undefined with less than a second of speech.
 */
export function measureScale(pcm: Buffer): number | undefined {
  const { lags, rows } = measureFrames(pcm);
  if (rows.length < fewestFrames) return undefined;
  const floor = rows.flat().reduce((most, level) => Math.max(most, level), 0) - rangeDb;
  const perBand = edges.slice(1).map((_, band) => rows.map((row) => Math.max(floor, row[band] ?? 0)));
  const means = perBand.map(mean);
  const spreads = perBand.map((levels, band) => {
    const middle = means[band] ?? 0;
    return Math.sqrt(mean(levels.map((level) => (level - middle) ** 2)));
  });
  if (mean(spreads) < leastSpreadDb) return undefined;
  const overall = mean(means);
  const lag = lags.sort((a, b) => a - b)[lags.length >> 1] ?? 1;
  let log = fit.offset + fit.lag * Math.log(lag);
  for (const [band, weight] of fit.levels.entries()) log += weight * ((means[band] ?? 0) - overall);
  for (const [band, weight] of fit.spreads.entries()) log += weight * (spreads[band] ?? 0);
  return Math.exp(log);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The period of the pitch, and the levels of the bands in decibels, for each audible frame that has a pitch. */
function measureFrames(pcm: Buffer): { lags: number[]; rows: number[][] } {
  const count = Math.floor(pcm.length / bytesPerSample);
  const samples = new Float64Array(count);
  for (let at = 0; at < count; at += 1) samples[at] = sampleAt(pcm, at * bytesPerSample);
  const frames: { frame: Float64Array; power: number }[] = [];
  for (let at = 0; at + frameSamples <= count; at += hopSamples) {
    const frame = samples.subarray(at, at + frameSamples);
    frames.push({ frame, power: powerOf(frame) });
  }
  const loudest = frames.reduce((most, { power }) => Math.max(most, power), 0);
  const fft = createFft(spectrumSamples);
  const lags: number[] = [];
  const rows: number[][] = [];
  for (const { frame, power } of frames) {
    const lag = power > loudest * audibleShare ? findPeriod(frame) : undefined;
    if (lag === undefined) continue;
    lags.push(lag);
    fft.load((at) => frame[at + (frameSamples - spectrumSamples) / 2] ?? 0);
    rows.push(edges.slice(1).map((edge, band) => 10 * Math.log10(fft.power(edges[band] ?? 0, edge) + 1)));
  }
  return { lags, rows };
}

function powerOf(frame: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < frame.length; at += 1) sum += (frame[at] as number) ** 2;
  return sum;
}

/** The period of the pitch, in pairs of samples; undefined if there is none. */
function findPeriod(frame: Float64Array): number | undefined {
  const likeness = measureLikenessOfLags(frame);
  let highest = 0;
  for (let lag = shortestLag; lag <= longestLag; lag += 1)
    highest = Math.max(highest, likeness[lag] as number);
  if (highest < leastPeriodicity) return undefined;
  for (let lag = shortestLag; lag <= longestLag; lag += 1) {
    const here = likeness[lag] as number;
    if (here < nearlyHighest * highest) continue;
    if (here >= (likeness[lag - 1] as number) && here >= (likeness[lag + 1] as number)) return lag;
  }
  return undefined;
}

/** The likeness of a frame to itself a number of sample pairs later: 1 is identical. */
function measureLikenessOfLags(frame: Float64Array): Float64Array {
  const size = frameSamples / 2;
  const half = new Float32Array(size + paddedBy);
  let middle = 0;
  for (let at = 0; at < size; at += 1) {
    half[at] = (frame[2 * at] as number) + (frame[2 * at + 1] as number);
    middle += (half[at] as number) / size;
  }
  /** The sums of the squares before each place. */
  const squares = new Float64Array(size + 1);
  for (let at = 0; at < size; at += 1) {
    half[at] = (half[at] as number) - middle;
    squares[at + 1] = (squares[at] as number) + (half[at] as number) ** 2;
  }
  const likeness = new Float64Array(longestLag + 2);
  for (let lag = shortestLag - 1; lag <= longestLag + 1; lag += 1) {
    const length = size - lag;
    const power = (squares[length] as number) * ((squares[size] as number) - (squares[lag] as number));
    const whole = Math.ceil(length / paddedBy) * paddedBy;
    likeness[lag] = power > 0 ? dot(half, 0, half, lag, whole) / Math.sqrt(power) : 0;
  }
  return likeness;
}
