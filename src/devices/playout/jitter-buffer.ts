import { encodeS16le } from '../../audio/encode.ts';
import { createStretcher } from '../../audio/stretch.ts';
import { bytesForMs, bytesPerSample, msForBytes } from '../../protocol/audio-format.ts';
import { createArrivals } from './arrivals.ts';
import { createConcealer } from './conceal.ts';
import { createSampleQueue } from './sample-queue.ts';

export interface JitterBufferOptions {
  /** How much audio is held against jitter, where there is little. 60 ms unless said otherwise. */
  targetMs?: number;
  /** 1 leaves the loudness as it is. */
  volume?: number;
}

/** What became of the audio so far. */
export interface JitterStats {
  /** How often audio came too late, and a gap was heard. */
  readonly underruns: number;
  /** Audio that was thrown away because it was interrupted. */
  readonly flushedMs: number;
  /** Audio that found no room. */
  readonly overflowMs: number;
}

/**
 * Takes AI audio as it comes and gives it out as a loudspeaker wants it: evenly, and close to real time. Pure: the
 * time is told with each call. A service may send faster than real time; then its audio waits, for minutes.
 */
export interface JitterBuffer {
  /** Takes audio, 16 kHz s16le mono of any length. What does not fit into five minutes is dropped, and counted. */
  push(pcm: Buffer, now: number): void;
  /** The next 20 ms: audio, what conceals a gap, or silence. Undefined while there is nothing to play. */
  pull(now: number): Buffer | undefined;
  /** Throws away what waits: somebody interrupts. */
  flush(): void;
  /** No more will come: what waits is played without waiting for more. */
  end(): void;
  /** Audio that waits. */
  readonly waitingMs: number;
  /** How much audio is held against jitter at the moment. */
  readonly targetMs: number;
  readonly stats: JitterStats;
}

const frameMs = 20;
const frameSamples = bytesForMs(frameMs) / bytesPerSample;
const maxWaitingBytes = bytesForMs(5 * 60_000);
const defaultTargetMs = 60;
const longestTargetMs = 400;
/** Held beyond the lateness that was measured. */
const reserveMs = 30;
/** A pause in what comes: shorter, it is a gap in a reply, and an underrun; longer, the reply has ended. */
const patienceMs = 300;
/** A delay that is off by less is left as it is: audio then passes at exactly its own speed. Too short is worse than too long. */
const tolerance = { shortMs: 5, longMs: 40 };
/** Of a service that is ahead of real time by more, no delay is corrected: its audio is meant to wait. */
const realTimeMs = 100;
/** Beyond it, it is brought back at this pace: 1 ms in `correctionMs` for each ms that it is off. */
const correctionMs = 10_000;
/** As much as nobody hears: a twelfth of a semitone. */
const maxCorrection = 0.005;
/** What waits is judged by the least of so many frames: right after a burst of messages there is more. */
const marginFrames = 250;
/** Audio that is late by this much more than its target is caught up with in pauses. */
const maxLateMs = 100;
const pauseFrames = 10;
/** Quieter than −60 dBFS is a pause. */
const pauseLevel = 0.001;

type State = 'idle' | 'filling' | 'playing' | 'gap';

export function createJitterBuffer(options: JitterBufferOptions = {}): JitterBuffer {
  const { targetMs: leastMs = defaultTargetMs, volume = 1 } = options;
  const queue = createSampleQueue();
  const arrivals = createArrivals();
  const concealer = createConcealer();
  const stretcher = createStretcher();
  const margin = createMinimum(marginFrames);
  let state: State = 'idle';
  let isEnded = false;
  /** When the audio came that is waited with, and how much of it came at once. */
  let filledSince = 0;
  let firstMs = 0;
  let gapSince = 0;
  let quietFrames = 0;
  const stats = { underruns: 0, flushedMs: 0, overflowMs: 0 };

  const targetMs = () => {
    return Math.min(longestTargetMs, Math.max(leastMs, arrivals.latenessMs + reserveMs));
  };
  const fill = (pcm: Buffer, now: number) => {
    state = 'filling';
    filledSince = now;
    firstMs = msForBytes(pcm.length);
    margin.clear();
  };
  const isFilled = (now: number) =>
    isEnded || now - filledSince >= targetMs() || queue.ms >= firstMs + targetMs();
  /** How much more waits than should, at the worst of moments. */
  const excess = (now: number) => {
    if (arrivals.aheadMs(now) > realTimeMs) return 0;
    return margin.value - Math.max(reserveMs, leastMs - frameMs - arrivals.latenessMs);
  };

  const skipPause = (now: number) => {
    const isQuiet = queue.peek(frameSamples).every((sample) => Math.abs(sample) < pauseLevel);
    quietFrames = isQuiet ? quietFrames + 1 : 0;
    if (quietFrames > pauseFrames && excess(now) > maxLateMs) {
      queue.skip(frameSamples);
      margin.shift(-frameMs);
    }
  };
  const play = (now: number) => {
    margin.add(queue.ms - frameMs);
    skipPause(now);
    const speed = 1 + correction(excess(now));
    const wanted = stretcher.needed(frameSamples, speed);
    const audio = concealer.played(queue.read(wanted));
    if (audio.length === wanted) return stretcher.stretch(audio, frameSamples, speed);
    state = 'gap';
    gapSince = now;
    const samples = new Float32Array(wanted);
    samples.set(audio);
    samples.set(concealer.conceal(wanted - audio.length), audio.length);
    return stretcher.stretch(samples, frameSamples, speed);
  };
  const wait = (now: number) => {
    const isOver = state === 'gap' && (isEnded || now - gapSince >= patienceMs) && !concealer.fading;
    if (isOver) {
      state = 'idle';
      arrivals.restart();
      return undefined;
    }
    return stretcher.stretch(concealer.conceal(stretcher.needed(frameSamples, 1)), frameSamples, 1);
  };

  return {
    push(pcm, now) {
      if (pcm.length === 0) return;
      const room = Math.max(0, maxWaitingBytes - queue.bytes);
      const fitting = pcm.length <= room ? pcm : pcm.subarray(0, room - (room % bytesPerSample));
      stats.overflowMs += msForBytes(pcm.length - fitting.length);
      arrivals.note(pcm.length, now);
      queue.push(fitting);
      // A gap after an interruption is meant.
      if (state === 'gap' && now - gapSince < patienceMs) stats.underruns += 1;
      if (state === 'gap' || state === 'idle') fill(pcm, now);
    },
    pull(now) {
      if (state === 'idle') return undefined;
      if (state === 'filling' && isFilled(now)) state = 'playing';
      const samples = state === 'playing' ? play(now) : wait(now);
      if (samples === undefined) return undefined;
      if (volume !== 1) for (let i = 0; i < samples.length; i += 1) samples[i] = (samples[i] ?? 0) * volume;
      return encodeS16le(samples);
    },
    flush() {
      stats.flushedMs += queue.ms;
      queue.clear();
      arrivals.restart();
      if (state === 'idle') return;
      state = 'gap';
      gapSince = Number.NEGATIVE_INFINITY;
    },
    end() {
      isEnded = true;
    },
    get waitingMs() {
      return queue.ms;
    },
    get targetMs() {
      return targetMs();
    },
    get stats() {
      return { ...stats };
    },
  };
}

/** How much faster to play, for a delay that is off by so much. */
function correction(offMs: number): number {
  const beyondMs = offMs > 0 ? Math.max(0, offMs - tolerance.longMs) : Math.min(0, offMs + tolerance.shortMs);
  return Math.max(-maxCorrection, Math.min(maxCorrection, beyondMs / correctionMs));
}

/** The least of the last `size` values. */
function createMinimum(size: number) {
  let values: number[] = [];
  return {
    add(value: number) {
      values.push(value);
      if (values.length > size) values.shift();
    },
    /** All values change by this much. */
    shift(by: number) {
      values = values.map((value) => value + by);
    },
    clear() {
      values = [];
    },
    get value() {
      return Math.min(...values);
    },
  };
}
