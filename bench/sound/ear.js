import { Worker } from 'node:worker_threads';
import { now } from './time.js';

/** Hears no longer back than this. */
const memorySamples = 16_000 * 20;
const rate = 16;
const audible = 60;
/** A shorter pause belongs to the sound. */
const holeMs = 5;
/** Holes within this time count once, as the program counts them. */
const sameHoleMs = 1_000;

/**
 * Listens to a monitor of the sound server, and knows when each sample came.
 *
 * @param {string} device
 * @param {NodeJS.ProcessEnv} env
 */
export async function openEar(device, env) {
  const thread = new Worker(new URL('./ear-thread.js', import.meta.url), { workerData: { device, env } });
  const ring = new Int16Array(memorySamples);
  /** @type {{ end: number, at: number }[]} */
  let chunks = [];
  let count = 0;
  let odd = Buffer.alloc(0);
  let holes = 0;
  let countedAt = 0;
  let quietSamples = 0;
  thread.on('message', (/** @type {{ data: Uint8Array, at: number }} */ { data, at }) => {
    const bytes = Buffer.concat([odd, data]);
    const whole = bytes.length >> 1;
    for (let i = 0; i < whole; i += 1) {
      const sample = bytes.readInt16LE(i * 2);
      ring[(count + i) % memorySamples] = sample;
      if (Math.abs(sample) <= audible) quietSamples += 1;
      else {
        if (quietSamples >= holeMs * rate && count + i - countedAt >= sameHoleMs * rate) {
          holes += 1;
          countedAt = count + i;
        }
        quietSamples = 0;
      }
    }
    odd = bytes.subarray(whole * 2);
    count += whole;
    chunks.push({ end: count, at });
    if (chunks.length > 8_000) chunks = chunks.slice(4_000);
  });
  await new Promise((resolve) => thread.once('message', resolve));

  /** When a sample came, ms. @param {number} sample */
  const timeOf = (sample) => {
    const chunk = chunks.find(({ end }) => end > sample);
    return chunk === undefined ? now() : chunk.at - (chunk.end - sample) / rate;
  };
  /** The first sample that came at this moment or later. @param {number} at */
  const sampleAt = (at) => {
    const index = chunks.findIndex((chunk) => chunk.at >= at);
    const chunk = chunks[index];
    if (chunk === undefined) return count;
    const from = chunks[index - 1]?.end ?? chunk.end;
    return Math.max(from, Math.round(chunk.end - (chunk.at - at) * rate));
  };
  /** @param {number} from @param {number} to */
  const read = (from, to) => {
    const samples = new Int16Array(Math.max(0, to - from));
    for (let i = 0; i < samples.length; i += 1) samples[i] = ring[(from + i) % memorySamples] ?? 0;
    return samples;
  };
  return {
    /**
     * When a piece of sound that left at `leftAt` was heard: ms after it, and how like it was.
     *
     * @param {Int16Array} piece @param {number} leftAt @param {number} withinMs
     */
    find(piece, leftAt, withinMs) {
      const from = sampleAt(leftAt - 20);
      const to = Math.min(count, sampleAt(leftAt + withinMs) + piece.length);
      const best = correlate(piece, read(from, to));
      return { delayMs: timeOf(from + best.at) - leftAt, likeness: best.likeness };
    },
    /** What was heard from a moment on. @param {number} at @param {number} samples */
    heardFrom(at, samples) {
      const from = sampleAt(at);
      return read(from, from + samples);
    },
    /**
     * Stretches of sound and silence between two moments, in steps of 5 ms.
     *
     * @param {number} fromAt @param {number} toAt
     */
    levels(fromAt, toAt) {
      const [from, to] = [sampleAt(fromAt), sampleAt(toAt)];
      const samples = read(from, to);
      const steps = [];
      for (let i = 0; i + 80 <= samples.length; i += 80) {
        const isLoud = samples.subarray(i, i + 80).some((sample) => Math.abs(sample) > audible);
        steps.push({ at: timeOf(from + i), isLoud });
      }
      return steps;
    },
    /** How many stretches of silence there were so far, each between sounds. */
    get holes() {
      return holes;
    },
    close() {
      thread.postMessage('end');
    },
  };
}

/** @param {Int16Array} piece @param {Int16Array} heard */
function correlate(piece, heard) {
  /** @param {number} at @param {number} step */
  const like = (at, step) => {
    let [product, energy, own] = [0, 0, 0];
    for (let i = 0; i < piece.length; i += step) {
      const [one, other] = [piece[i] ?? 0, heard[at + i] ?? 0];
      product += one * other;
      energy += other * other;
      own += one * one;
    }
    return energy === 0 ? 0 : product / Math.sqrt(energy * own);
  };
  let best = { at: 0, likeness: 0 };
  for (let at = 0; at + piece.length <= heard.length; at += 8) {
    const likeness = like(at, 8);
    if (likeness > best.likeness) best = { at, likeness };
  }
  const around = best.at;
  best = { at: around, likeness: 0 };
  for (let at = Math.max(0, around - 12); at <= around + 12; at += 1) {
    const likeness = like(at, 2);
    if (likeness > best.likeness) best = { at, likeness };
  }
  return best;
}
