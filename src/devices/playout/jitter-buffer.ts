import { encodeS16le } from '../../audio/encode.ts';
import { createStretcher } from '../../audio/stretch.ts';
import { defaultSettleMs } from '../../kernel/audio-limits.ts';
import { bytesForMs, bytesPerSample, msForBytes } from '../../protocol/audio-format.ts';
import { createArrivals } from './arrivals.ts';
import { audibleLevel, createCatchUp, seamSamples as cutSamples } from './catch-up.ts';
import { createConcealer } from './conceal.ts';
import { createSampleQueue } from './sample-queue.ts';
import { createWindow } from './window.ts';

export interface JitterBufferOptions {
  /** The minimum time for which audio is held before it is played. Default: 20 ms. */
  targetMs?: number;
  /** 1: unchanged. */
  volume?: number;
  /** After a longer pause of AI audio another reply begins. Default: 1.5 s. */
  settleMs?: number;
}

/** What happened to the audio so far. */
export interface JitterStats {
  /** How often audio came too late and left a gap in a reply. */
  readonly underruns: number;
  /** Audio that was dropped because of an interruption. */
  readonly flushedMs: number;
  /** Audio that was dropped because the buffer was full. */
  readonly overflowMs: number;
  /** Audio that was skipped because the device, the machine or the network was held up. */
  readonly skippedMs: number;
}

/**
 * Takes AI audio as it arrives and returns it evenly and close to real time. Pure: each call passes the time. A service may
 * send faster than real time; then its audio waits, for minutes if necessary.
 */
export interface JitterBuffer {
  /**
   * Takes 16 kHz s16le mono of any length. Audio beyond five minutes is dropped and counted. `isDelayedByUs`: this process
   * was held up and read it late, which does not delay playback.
   */
  push(pcm: Buffer, now: number, isDelayedByUs?: boolean): void;
  /**
   * The next 20 ms: audio, concealment of a gap, or silence. Undefined while there is nothing to play. `isDeviceDry`: the
   * device is silent, so the frame fades in.
   */
  pull(now: number, isDeviceDry?: boolean): Buffer | undefined;
  /** Skips this much waiting audio if the service sends in real time: it is too late. */
  leaveOut(ms: number): void;
  /** Drops waiting audio. */
  flush(): void;
  /** Drops waiting audio: the user interrupts. Returns a last frame that fades out, to avoid a click. */
  fadeOut(now: number): Buffer | undefined;
  /** No more audio will come: the rest is played without waiting. */
  end(): void;
  /** How much audio is waiting. */
  readonly waitingMs: number;
  /** How long audio is currently held before it is played. */
  readonly targetMs: number;
  /** How long the last frame had waited. */
  readonly heldMs: number;
  readonly stats: JitterStats;
}

const frameMs = 20;
const frameSamples = bytesForMs(frameMs) / bytesPerSample;
const maxWaitingBytes = bytesForMs(5 * 60_000);
const defaultTargetMs = 20;
const longestTargetMs = 400;
/** How much later than before a message may come without causing a gap. */
const reserveMs = 10;
/** Added for each gap of the last minute except the first: a single one may never happen again. */
const reserveForHoleMs = 20;
/** In a shorter pause the device keeps playing. */
const patienceMs = 300;
/** A smaller deviation of the delay is not corrected: audio is played at exactly its own speed. */
const toleranceMs = 5;
/** Beyond the tolerance, the speed changes by 1 ms in `correctionMs` for each millisecond of deviation. */
const correctionMs = 2_000;
/** Inaudible: a twelfth of a semitone. */
const maxCorrection = 0.005;
/** The delay is the minimum over this many frames, because right after a burst of messages it is longer. */
const speedFrames = 250;
/** If this many frames in a row are late, something was held up; correcting that by speed would take minutes. */
const lateFrames = 60;
/** A frame is late if it is this much later than needed. */
const catchUpMs = 30;
const seamSamples = 80;
/** 10 ms: a listener hears neither a click nor the reply going on. */
const fadeOutSamples = 160;
const riseSamples = 80;

type State = 'idle' | 'filling' | 'playing' | 'gap';

export function createJitterBuffer(options: JitterBufferOptions = {}): JitterBuffer {
  const { targetMs: leastMs = defaultTargetMs, volume = 1, settleMs = defaultSettleMs } = options;
  const queue = createSampleQueue();
  const arrivals = createArrivals();
  const concealer = createConcealer();
  const stretcher = createStretcher();
  const holes = createHoleDetector({ patienceMs, settleMs });
  let state: State = 'idle';
  let isEnded = false;
  /** When the first audio after a pause came, and how much it was. */
  let filledSince = 0;
  let firstMs = 0;
  let gapSince = Number.NEGATIVE_INFINITY;
  let heldMs = 0;
  const stats = { flushedMs: 0, overflowMs: 0 };

  const reserve = (now: number) =>
    reserveMs + reserveForHoleMs * Math.min(3, Math.max(0, holes.recent(now) - 1));
  const delay = createDelayControl({ queue, arrivals, leastMs, reserve });
  const targetMs = (now: number) => {
    return Math.min(longestTargetMs, Math.max(leastMs, arrivals.latenessMs + reserve(now)));
  };
  const fill = (pcm: Buffer, now: number) => {
    state = 'filling';
    filledSince = now;
    firstMs = msForBytes(pcm.length);
    delay.clear();
  };
  const isFilled = (now: number) =>
    isEnded || now - filledSince >= targetMs(now) || queue.ms >= firstMs + targetMs(now);
  const play = (now: number) => {
    const seam = delay.skipLate(now);
    const speed = delay.speedAt(now);
    const wanted = stretcher.needed(frameSamples, speed);
    const ageMs = now - (queue.spokenAt(wanted) ?? now);
    heldMs = Math.max(0, ageMs - arrivals.messageMs);
    delay.played(ageMs);
    const audio = concealer.played(joinSeam(seam, queue.read(wanted)));
    holes.played(audio);
    if (audio.length === wanted) return stretcher.stretch(audio, frameSamples, speed);
    state = 'gap';
    gapSince = now;
    holes.began(now, arrivals.isLate(now));
    const samples = new Float32Array(wanted);
    samples.set(audio);
    samples.set(concealer.conceal(wanted - audio.length), audio.length);
    return stretcher.stretch(samples, frameSamples, speed);
  };
  const wait = (now: number) => {
    const isOver = state === 'gap' && (isEnded || now - gapSince >= patienceMs) && !concealer.fading;
    if (isOver) {
      state = 'idle';
      return undefined;
    }
    return stretcher.stretch(concealer.conceal(stretcher.needed(frameSamples, 1)), frameSamples, 1);
  };
  const next = (now: number) => {
    if (state === 'idle') return undefined;
    if (state === 'filling' && isFilled(now)) state = 'playing';
    return state === 'playing' ? play(now) : wait(now);
  };
  const write = (samples: Float32Array | undefined) => {
    if (samples === undefined) return undefined;
    return encodeS16le(volume === 1 ? samples : samples.map((sample) => sample * volume));
  };
  const flush = () => {
    stats.flushedMs += queue.ms;
    queue.clear();
    arrivals.resume(false);
    delay.stop();
    gapSince = Number.NEGATIVE_INFINITY;
    holes.forget();
    concealer.hush();
    stretcher.clear();
    state = 'idle';
  };

  return {
    push(pcm, now, isDelayedByUs) {
      if (pcm.length === 0) return;
      const fitting = pcm.subarray(0, maxWaitingBytes - queue.bytes);
      stats.overflowMs += msForBytes(pcm.length - fitting.length);
      const isSameReply = now - gapSince < settleMs;
      if (state === 'idle') arrivals.resume(isSameReply);
      arrivals.add(pcm.length, now, isDelayedByUs);
      queue.push(fitting, now);
      holes.ended(now);
      if (state === 'filling' || state === 'playing') return;
      fill(pcm, now);
      if (isSameReply && isDelayedByUs !== true) delay.catchUp(now);
    },
    pull(now, isDeviceDry = false) {
      const samples = next(now);
      return write(isDeviceDry ? samples?.map(rise) : samples);
    },
    leaveOut: delay.leaveOut,
    flush,
    fadeOut(now) {
      const samples = next(now);
      flush();
      return write(samples?.map(fall));
    },
    end() {
      isEnded = true;
    },
    get waitingMs() {
      return queue.ms;
    },
    get targetMs() {
      return targetMs(Number.POSITIVE_INFINITY);
    },
    get heldMs() {
      return heldMs;
    },
    get stats() {
      return { ...stats, skippedMs: delay.skippedMs, underruns: holes.count };
    },
  };
}

/** Keeps the delay at what the network needs: by speed, and by skipping audio that a hold-up has made too late. */
interface DelayControl {
  /** How much audio was skipped in total. */
  readonly skippedMs: number;
  /** Forgets the delays so far: a pause has ended. */
  clear(): void;
  /** This much audio is too late, because the device did not play. */
  leaveOut(ms: number): void;
  /** Makes up for a gap, little by little. */
  catchUp(now: number): void;
  stop(): void;
  speedAt(now: number): number;
  /** Skips what is too late. Returns its first samples, to join the seam. */
  skipLate(now: number): Float32Array | undefined;
  /** Audio of this age was played. */
  played(ageMs: number): void;
}

interface DelayOptions {
  queue: ReturnType<typeof createSampleQueue>;
  arrivals: ReturnType<typeof createArrivals>;
  leastMs: number;
  reserve: (now: number) => number;
}

function createDelayControl({ queue, arrivals, leastMs, reserve }: DelayOptions): DelayControl {
  /** The age of audio when it was played, over a long and a short time. */
  const age = createWindow(speedFrames);
  const recentAge = createWindow(lateFrames);
  const catchUp = createCatchUp();
  let lateMs = 0;
  let skippedMs = 0;
  const clear = () => {
    age.clear();
    recentAge.clear();
  };
  /** How old audio must be when it is played: the first sample of a message is as old as the message is long. */
  const neededMs = (now: number) => reserve(now) + arrivals.messageMs;
  const speedAt = (now: number) => {
    const { least } = age;
    // There is a delay to keep only if audio arrives in real time.
    return arrivals.isLive(now) && Number.isFinite(least) ? 1 + correction(least - neededMs(now)) : 1;
  };
  const wantedMs = (now: number) =>
    Math.max(leastMs + arrivals.messageMs, neededMs(now) + arrivals.latenessMs);

  /** How much of the waiting audio is too late, because the device or this process was held up. */
  const excessMs = (now: number) => {
    if (!arrivals.isLive(now)) return 0;
    if (lateMs > 0) return lateMs;
    const overMs = recentAge.isFull ? recentAge.least - wantedMs(now) : 0;
    return overMs < catchUpMs ? 0 : overMs;
  };
  /** Skips samples. Returns the first of them, to join the seam. */
  const skip = (count: number, seamCount: number) => {
    const seam = queue.peek(seamCount);
    queue.skip(count);
    skippedMs += msForBytes(count * bytesPerSample);
    return seam;
  };
  /** Skips what is too late. Returns its first samples. */
  const skipLate = (now: number): Float32Array | undefined => {
    const isMadeUpFor = lateMs > 0;
    if (!isMadeUpFor && catchUp.isNeeded(now)) return skipSome(now);
    const overMs = Math.min(excessMs(now), queue.ms - frameMs);
    lateMs = 0;
    if (overMs <= 0) return undefined;
    const seam = skip(Math.round((bytesForMs(1) / bytesPerSample) * overMs), seamSamples);
    // Skipping audio because the device waited leaves the rest as old as before.
    if (isMadeUpFor) return seam;
    clear();
    return seam;
  };
  /** Makes up for a gap little by little. */
  const skipSome = (now: number): Float32Array | undefined => {
    clear();
    if (!arrivals.isLive(now)) return undefined;
    const count = catchUp.next(now, queue.ms - frameMs - wantedMs(now), queue.peek);
    return count === 0 ? undefined : skip(count, cutSamples);
  };
  return {
    get skippedMs() {
      return skippedMs;
    },
    clear,
    leaveOut(ms) {
      lateMs += ms;
    },
    catchUp: catchUp.begin,
    stop() {
      lateMs = 0;
      catchUp.stop();
    },
    speedAt,
    skipLate,
    played(ageMs) {
      age.add(ageMs);
      recentAge.add(ageMs);
    },
  };
}

function fall(sample: number, index: number): number {
  return sample * Math.max(0, 1 - index / fadeOutSamples);
}

function rise(sample: number, index: number): number {
  return sample * Math.min(1, index / riseSamples);
}

/** The change of speed for this deviation of the delay. */
function correction(offMs: number): number {
  const beyondMs = Math.sign(offMs) * Math.max(0, Math.abs(offMs) - toleranceMs);
  return Math.max(-maxCorrection, Math.min(maxCorrection, beyondMs / correctionMs));
}

/** Fades from the skipped audio to the audio that follows, so that the seam does not click. */
function joinSeam(before: Float32Array | undefined, samples: Float32Array): Float32Array {
  if (before === undefined) return samples;
  const count = Math.min(before.length, samples.length);
  for (let index = 0; index < count; index += 1) {
    const share = (index + 1) / (count + 1);
    samples[index] = (samples[index] ?? 0) * share + (before[index] ?? 0) * (1 - share);
  }
  return samples;
}

/** Counts audible gaps in a reply, and distinguishes them from its end. */
interface Holes {
  /** Takes played samples, −1 to 1. */
  played(samples: Float32Array): void;
  /** From now on there is nothing to play. `isLate`: because audio is late, not because the device needs more. */
  began(now: number, isLate: boolean): void;
  /** There is something to play again. */
  ended(now: number): void;
  /** The following silence is intended. */
  forget(): void;
  readonly count: number;
  /** How many late audio caused in the last minute. */
  recent(now: number): number;
}

interface HoleOptions {
  /** A shorter pause is always a gap. */
  patienceMs: number;
  /** After a longer pause another reply begins. */
  settleMs: number;
}

const recentMs = 60_000;

function createHoleDetector({ patienceMs, settleMs }: HoleOptions): Holes {
  let since: number | undefined;
  let wasLate = false;
  let wasAudible = false;
  let times: number[] = [];
  let count = 0;
  return {
    played(samples) {
      if (samples.length > 0) wasAudible = samples.some((sample) => Math.abs(sample) > audibleLevel);
    },
    began(now, isLate) {
      since = now;
      wasLate = isLate;
    },
    ended(now) {
      if (since === undefined) return;
      const ms = now - since;
      since = undefined;
      if (ms >= patienceMs && !(wasAudible && ms < settleMs)) return;
      count += 1;
      if (wasLate) times = [...times.slice(-9), now];
    },
    forget() {
      since = undefined;
    },
    get count() {
      return count;
    },
    recent: (now) => times.filter((at) => now - at < recentMs).length,
  };
}
