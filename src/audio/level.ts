import type { Clock } from '../kernel/clock.ts';
import { bytesForMs, bytesPerSample } from '../protocol/audio-format.ts';
import { createBlockJoiner } from './blocks.ts';
import { sampleAt } from './sample-at.ts';

/** The level of silence, instead of −∞. */
const floorDbfs = -100;

/** AI audio above this is audible. Below is a pause: some services, and an echo of the tail, send endless silence. */
export const audibleDbfs = -60;
/** At this level and below there are only zeros. */
export const silentDbfs = -99;

/** A level rounded to a tenth. */
export function roundDbfs(dbfs: number): number {
  return Math.round(dbfs * 10) / 10;
}

/** `-12.3 dBFS` */
export function dbfsText(dbfs: number, digits = 1): string {
  return `${dbfs.toFixed(digits)} dBFS`;
}

/** The factor for this many decibels. */
export function gainOf(db: number): number {
  return 10 ** (db / 20);
}

/** The amplitude, out of 32,768, of a level in dBFS. */
export function amplitudeOf(dbfs: number): number {
  return 0x8000 * gainOf(dbfs);
}

/** The level of a stretch of PCM. */
export interface Level {
  /** 0 is a square wave at full scale, −3 a sine at full scale. */
  readonly rmsDbfs: number;
  readonly peakDbfs: number;
  /** Whether a sample is at either end of the scale. */
  readonly clipped: boolean;
}

/** The level of 16 kHz s16le mono, between −100 (also for no audio) and 0 dBFS. Ignores an odd last byte. */
export function measureLevel(pcm: Buffer): Level {
  const count = Math.floor(pcm.length / bytesPerSample);
  const end = count * bytesPerSample;
  let squares = 0;
  let least = 0;
  let most = 0;
  for (let at = 0; at < end; at += bytesPerSample) {
    const sample = sampleAt(pcm, at);
    squares += sample * sample;
    if (sample > most) most = sample;
    else if (sample < least) least = sample;
  }
  return {
    rmsDbfs: toDbfs(Math.sqrt(squares / Math.max(1, count))),
    peakDbfs: toDbfs(Math.max(most, -least)),
    clipped: most === 0x7fff || least === -0x8000,
  };
}

/** Measures message by message. A split sample counts for the message that completes it. */
export function createLevelMeter(): (message: Buffer) => Level {
  const samples = createBlockJoiner();
  return (message) => measureLevel(samples.push(message));
}

/** An amplitude of 0 to 32,768 in decibels below full scale. */
export function toDbfs(amplitude: number): number {
  return Math.max(floorDbfs, 20 * Math.log10(amplitude / 0x8000));
}

/** How much audio passes between two kept messages: each kept one costs garbage collection. */
const passedBytes = bytesForMs(60);
/** Older audio does not count. */
const heardMs = 250;
const keptBytes = bytesForMs(heardMs);

/** The current level of a voice. It is measured only on request, so passing audio costs almost nothing. */
export class LatestLevel {
  private readonly clock: Pick<Clock, 'now'>;
  /** Its first sample begins at the byte `from`. */
  private latest: { pcm: Buffer; from: number; at: number } | undefined;
  private passed = passedBytes;
  /** Whether the next message begins within a sample. */
  private isOdd = false;

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  measure(pcm: Buffer): void {
    const from = this.isOdd ? 1 : 0;
    if (pcm.length % bytesPerSample !== 0) this.isOdd = !this.isOdd;
    this.passed += pcm.length;
    if (this.passed <= passedBytes) return;
    this.passed = 0;
    // A message may be large, and the stream may then be silent for a long time.
    const more = Math.max(0, pcm.length - from - keptBytes);
    const start = from + more + (more % bytesPerSample);
    const at = this.clock.now();
    this.latest = more === 0 ? { pcm, from, at } : { pcm: Buffer.from(pcm.subarray(start)), from: 0, at };
  }

  /** The RMS of a recent message in dBFS; −100 if there was none. */
  read(): number {
    if (this.latest === undefined || this.clock.now() - this.latest.at > heardMs) return floorDbfs;
    const { pcm, from } = this.latest;
    return roundDbfs(measureLevel(from === 0 ? pcm : pcm.subarray(from)).rmsDbfs);
  }
}
