import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Level } from '../audio/level.ts';
import { audibleDbfs } from '../audio/level.ts';
import type { SpeechMoment } from '../audio/sent-speech.ts';
import { createTurnTaking, isGap, type TurnTaking } from '../audio/turn-taking.ts';
import type { MeasuredAudio } from '../kernel/audio-limits.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import { roundMs } from '../protocol/time-text.ts';

/** Totals of one direction. */
export interface AudioTotals {
  frames: number;
  bytes: number;
  audioMs: number;
}

/** A distribution, in milliseconds. */
export interface Spread {
  p50: number;
  p95: number;
  max: number;
}

export interface MetricsSnapshot {
  out: AudioTotals;
  in: AudioTotals;
  /** AI audio louder than −60 dBFS, message by message. */
  audibleMs: number;
  /** From the end of the last sent speech to the first AI audio after it. Null if there was none. */
  firstAudioMs: number | null;
  /** Difference between the time from one AI message of a reply to the next and the length of the first. */
  jitterMs: Spread | null;
  /** The longest time between two AI messages of one reply: see `TurnTaking`. */
  longestGapMs: number | null;
  /** How late frames were sent, after their deadline. */
  sendLatenessMs: Spread | null;
}

/** The measurements that expectations use while a session runs. */
export type Figures = Omit<MetricsSnapshot, 'out' | 'in' | 'audibleMs'>;

/** Measurements of playback; null if nothing is played, or nothing has been played yet. */
export interface PlaybackFigures {
  underruns: number | null;
  /** Estimated time from the arrival of audio until it is heard. */
  playbackDelayMs: number | null;
}

export interface MetricsOptions {
  /** After a pause longer than this another reply begins. */
  settleMs: number;
  /** Called for each silence that a listener hears within a reply. */
  onGap?: (silenceMs: number, at: number) => void;
  /** How long this process did not run between two times, at the longest. Default: it always ran. */
  pausedMs?: (from: number, until: number) => number;
}

/** Measures the audio of a session as it passes. All times are monotonic milliseconds. */
export interface Metrics {
  /** Takes a sent message; returns the speech in it. */
  sent(pcm: Buffer, now: number): SpeechMoment[];
  sentLate(lateMs: number): void;
  /** Takes the size and the level of an AI message. */
  received(bytes: number, level: Level, now: number): void;
  /** The service cancels audio that was not heard yet. */
  interrupted(now: number): void;
  /** Only silence follows: ends speech that the gate still holds open, and returns that end. */
  finishSpeech(): SpeechMoment[];
  /** When the first AI audio after the last speech arrived, or the first at all if there was no speech. */
  readonly replyBegunAt: number | undefined;
  /** When the last audible AI audio arrived. */
  readonly lastAudibleAt: number | undefined;
  /** Whether AI audio was audible at this time. */
  wasHeardAt(at: number): boolean;
  snapshot(): MetricsSnapshot;
  figures(): Figures;
  pausedMs(): NonNullable<MeasuredAudio['pausedMs']>;
}

export function createMetrics({ settleMs, onGap, pausedMs = () => 0 }: MetricsOptions): Metrics {
  const out: AudioTotals = { frames: 0, bytes: 0, audioMs: 0 };
  const incoming: AudioTotals = { frames: 0, bytes: 0, audioMs: 0 };
  const jitter = createSpread();
  /** The same without the pauses of this process. */
  const runningJitter = createSpread();
  const lateness = createSpread();
  const turns = createTurnTaking({
    settleMs,
    onPair(pair) {
      longestGapMs = Math.max(longestGapMs ?? 0, pair.betweenMs);
      jitter.add(pair.jitterMs);
      const ownMs = pausedMs(pair.at - pair.betweenMs, pair.at);
      runningJitter.add(Math.max(0, pair.jitterMs - ownMs));
      longestRunningGapMs = Math.max(longestRunningGapMs, pair.betweenMs - ownMs);
      if (isGap(pair)) onGap?.(roundMs(pair.silenceMs), pair.at);
    },
  });
  let lastAudibleAt: number | undefined;
  let audibleBytes = 0;
  let longestGapMs: number | null = null;
  /** Without the pauses of this process. */
  let longestRunningGapMs = 0;

  const figures = (): Figures => ({
    firstAudioMs: firstAudioMs(turns),
    jitterMs: jitter.read(),
    longestGapMs: longestGapMs === null ? null : roundMs(longestGapMs),
    sendLatenessMs: lateness.read(),
  });

  return {
    get replyBegunAt() {
      return turns.speaking ? undefined : turns.firstAudioAt;
    },
    get lastAudibleAt() {
      return lastAudibleAt;
    },
    sent(pcm, now) {
      count(out, pcm.length);
      return turns.sent(pcm, now);
    },
    sentLate: (lateMs) => lateness.add(lateMs),
    finishSpeech: turns.finishSpeech,
    received(bytes, level, now) {
      count(incoming, bytes);
      const isAudible = bytes > 0 && level.rmsDbfs > audibleDbfs;
      turns.received(bytes, now, isAudible);
      if (!isAudible) return;
      lastAudibleAt = now;
      audibleBytes += bytes;
    },
    interrupted: turns.interrupted,
    wasHeardAt: (at) => at < turns.audibleUntil,
    snapshot() {
      const audibleMs = msForBytes(audibleBytes);
      return { out: { ...out }, in: { ...incoming }, audibleMs, ...figures() };
    },
    figures,
    pausedMs() {
      const { speechEndedAt: from, firstAudioAt: until } = turns;
      return {
        firstAudioMs: from === undefined || until === undefined ? 0 : pausedMs(from, until),
        longestGapMs: (longestGapMs ?? 0) - longestRunningGapMs,
        jitterMs: (jitter.read()?.p95 ?? 0) - (runningJitter.read()?.p95 ?? 0),
      };
    },
  };
}

function firstAudioMs({ firstAudioAt, speechEndedAt }: TurnTaking): number | null {
  return firstAudioAt === undefined || speechEndedAt === undefined
    ? null
    : roundMs(firstAudioAt - speechEndedAt);
}

function count(totals: AudioTotals, bytes: number): void {
  totals.frames += 1;
  totals.bytes += bytes;
  totals.audioMs = msForBytes(totals.bytes);
}

/** Percentiles in constant memory, with a resolution of a microsecond. */
function createSpread() {
  let histogram: RecordableHistogram | undefined;
  return {
    add(ms: number) {
      histogram ??= createHistogram();
      histogram.record(Math.max(1, Math.round(ms * 1000)));
    },
    read(): Spread | null {
      if (histogram === undefined) return null;
      const at = (percentile: number) =>
        roundMs((histogram as RecordableHistogram).percentile(percentile) / 1000);
      return { p50: at(50), p95: at(95), max: roundMs(histogram.max / 1000) };
    },
  };
}
