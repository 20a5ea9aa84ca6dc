import { meanSquareDb } from './voice-level.ts';

const order = 12;
/** The number of lags from 0, a multiple of four. */
const correlated = order + 4;
/** Samples before and after a block for which the residual is also measured. */
const margin = 200;
const blockSamples = 320;
const spanSamples = blockSamples + 2 * margin;
/** The residual of a single step lasts as long as the prediction looks back. */
const ownBefore = 3;
const ownAfter = order + 2;
/** By what factor a residual must exceed all others within `margin`. Half of 700 clean recordings have none over 2. */
export const unexplained = 3;

const taper = Float64Array.from(
  { length: spanSamples },
  (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (at + 0.5)) / spanSamples),
);
// Shared by all checks: each use overwrites them.
const padded = new Float64Array(correlated + spanSamples);
const tapered = padded.subarray(correlated);
const residual = new Float64Array(spanSamples);
const correlation = new Float64Array(correlated);
const predictor = new Float64Array(order + 1);
const before = new Float64Array(order + 1);

/** The result of linear prediction for a block. */
export interface Predicted {
  /** The place of the largest residual, and by what factor it exceeds all others around it. */
  at: number;
  times: number;
  /** Its level in dBov. */
  dbov: number;
  /** The likeness of neighbouring samples, from −1 to 1. In speech it varies from sound to sound; in a tone it does not. */
  likeness: number;
}

const result: Predicted = { at: 0, times: 0, dbov: 0, likeness: 0 };

/** How many samples must be known on either side of a block. */
export const predictionMargin = margin + order;

/**
 * Predicts each sample of a block from the 12 before it, and finds the one that prediction explains least. The result is valid
 * until the next call.
 */
export function predict(samples: Int16Array, from: number): Predicted {
  const start = from - margin;
  fitPredictor(samples, start);
  measureResidual(samples, start);
  let best = margin;
  for (let at = margin; at < margin + blockSamples; at += 1)
    if ((residual[at] as number) > (residual[best] as number)) best = at;
  let other = 1;
  for (let at = best - margin; at <= best + margin && at < spanSamples; at += 1) {
    if (at >= best - ownBefore && at <= best + ownAfter) continue;
    if ((residual[at] as number) > other) other = residual[at] as number;
  }
  // The residual of a step begins at the step, but may be larger in the samples after it.
  let first = best;
  for (let at = best - 3; at < best; at += 1)
    if (first === best && (residual[at] as number) >= 0.3 * (residual[best] as number)) first = at;
  result.at = start + first;
  result.times = (residual[best] as number) / other;
  result.dbov = meanSquareDb((residual[best] as number) ** 2);
  result.likeness = (correlation[1] as number) / (correlation[0] as number);
  return result;
}

/** Four at a time, so that the processor does not wait for one addition before the next. */
function measureResidual(samples: Int16Array, start: number): void {
  for (let at = 0; at < spanSamples; at += 4) {
    let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
    for (let back = 0; back <= order; back += 1) {
      const factor = predictor[back] as number;
      const from = start + at - back;
      sum0 += factor * (samples[from] as number);
      sum1 += factor * (samples[from + 1] as number);
      sum2 += factor * (samples[from + 2] as number);
      sum3 += factor * (samples[from + 3] as number);
    }
    residual[at] = Math.abs(sum0);
    residual[at + 1] = Math.abs(sum1);
    residual[at + 2] = Math.abs(sum2);
    residual[at + 3] = Math.abs(sum3);
  }
}

/** The autocorrelation of the tapered samples, four lags at a time. */
function correlate(): void {
  for (let lag = 0; lag <= order; lag += 4) {
    let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
    for (let at = lag; at < spanSamples; at += 1) {
      // Before the first sample there is silence.
      const sample = padded[at + correlated] as number;
      const from = at + correlated - lag;
      sum0 += sample * (padded[from] as number);
      sum1 += sample * (padded[from - 1] as number);
      sum2 += sample * (padded[from - 2] as number);
      sum3 += sample * (padded[from - 3] as number);
    }
    correlation[lag] = sum0;
    correlation[lag + 1] = sum1;
    correlation[lag + 2] = sum2;
    correlation[lag + 3] = sum3;
  }
}

/** Fits the predictor with the autocorrelation method. */
function fitPredictor(samples: Int16Array, start: number): void {
  for (let at = 0; at < spanSamples; at += 1)
    tapered[at] = (samples[start + at] as number) * (taper[at] as number);
  correlate();
  // A little white noise keeps the equations solvable for silence and tones.
  correlation[0] = (correlation[0] as number) * 1.0001 + 1;
  predictor.fill(0);
  predictor[0] = 1;
  let error = correlation[0] as number;
  for (let step = 1; step <= order; step += 1) {
    let sum = correlation[step] as number;
    for (let at = 1; at < step; at += 1)
      sum += (predictor[at] as number) * (correlation[step - at] as number);
    const reflection = -sum / error;
    before.set(predictor);
    for (let at = 1; at < step; at += 1)
      predictor[at] = (before[at] as number) + reflection * (before[step - at] as number);
    predictor[step] = reflection;
    error *= 1 - reflection * reflection;
  }
}

/**
 * By what factor a jump exceeds the errors of prediction before it. `step` −1 looks from the other side, at sound that begins
 * suddenly. Above `unexplained` the sound itself does not explain the jump.
 */
export function measureJump(samples: Int16Array, at: number, step: 1 | -1): number {
  for (let index = 0; index < spanSamples; index += 1)
    mirrored[order + index] = samples[at - step * (spanSamples - index)] as number;
  for (let index = 0; index < order; index += 1)
    mirrored[index] = samples[at - step * (spanSamples + order - index)] as number;
  mirrored[order + spanSamples] = samples[at] as number;
  fitPredictor(mirrored, order);
  let other = 1;
  for (let place = order + spanSamples - margin; place < order + spanSamples; place += 1)
    other = Math.max(other, Math.abs(predictedError(mirrored, place)));
  const error = Math.abs(predictedError(mirrored, order + spanSamples));
  // Prediction also fails if sound becomes loud a few samples away, without a jump at this place.
  return error > mostSteps * stepBeside(samples, at, step) ? 0 : error / other;
}

/** The largest of the three steps next to this place. */
function stepBeside(samples: Int16Array, at: number, step: 1 | -1): number {
  let largest = 0;
  for (let index = 0; index < 3; index += 1) {
    const [one, next] = [samples[at - step * index] as number, samples[at - step * (index + 1)] as number];
    largest = Math.max(largest, Math.abs(one - next));
  }
  return largest;
}

const mostSteps = 4;
/** How many samples a jump is compared with. */
export const jumpSamples = spanSamples + order;
const mirrored = new Int16Array(spanSamples + order + 1);

function predictedError(samples: Int16Array, at: number): number {
  let sum = 0;
  for (let back = 0; back <= order; back += 1)
    sum += (predictor[back] as number) * (samples[at - back] as number);
  return sum;
}
