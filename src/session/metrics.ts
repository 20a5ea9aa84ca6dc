import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Level } from '../audio/level.ts';
import { createSpeechGate, type GateEvent } from '../audio/speech-gate.ts';
import { msForBytes } from '../protocol/audio-format.ts';

/** Counted in one direction. */
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
  /** From the end of the last speech that was sent to the first AI audio after it. Null where none came. */
  firstAudioMs: number | null;
  /** How far the time between two AI messages of one reply was from the audio in the first of them. */
  jitterMs: Spread | null;
  /** The longest time between two AI messages of one reply. */
  longestGapMs: number | null;
  /** How late frames left, after their deadline. */
  sendLatenessMs: Spread | null;
}

/** What a session is judged by while it runs. */
export type Figures = Omit<MetricsSnapshot, 'out' | 'in' | 'audibleMs'>;

export interface MetricsOptions {
  /** AI audio that pauses for longer than this is another reply. */
  settleMs: number;
}

/** Measures the audio of a session as it passes. All times are monotonic milliseconds. */
export interface Metrics {
  /** Takes a message that was sent; returns what the speech gate found in it. */
  sent(pcm: Buffer, now: number): GateEvent[];
  sentLate(lateMs: number): void;
  /** Takes AI audio that came; returns the silence that was heard before it within its reply, where that was long. */
  received(pcm: Buffer, level: Level, now: number): number | undefined;
  /** Nothing but silence will follow: speech that the gate holds open has ended. Returns that end. */
  finishSpeech(): GateEvent[];
  /** When the first AI audio came that answers the last speech, or any audio where none was spoken. */
  readonly replyBegunAt: number | undefined;
  /** When AI audio that can be heard came last. */
  readonly lastAudibleAt: number | undefined;
  /** Whether AI audio could be heard when this moment of the sent audio left. */
  wasHeardAt(positionMs: number): boolean;
  snapshot(): MetricsSnapshot;
  figures(): Figures;
}

/** Quieter AI audio than this is a pause: some services, and an echo of our own tail, send silence without end. */
export const audibleDbfs = -60;
/** A shorter pause within a reply is no gap to a listener. */
const shortestGapMs = 100;
/** The gate tells the end of speech this much audio after the fact, at most. */
const gateMemoryMs = 1_000;

export function createMetrics({ settleMs }: MetricsOptions): Metrics {
  const out: AudioTotals = { frames: 0, bytes: 0, audioMs: 0 };
  const incoming: AudioTotals = { frames: 0, bytes: 0, audioMs: 0 };
  const gate = createSpeechGate();
  const jitter = createSpread();
  const lateness = createSpread();
  /** When which moment of the sent audio left, as far back as the gate can point. */
  const departures: { positionMs: number; at: number }[] = [];
  /** AI audio that came while the gate was open, as far back as the gate can point. */
  let arrivals: number[] = [];
  let speechEndedAt: number | undefined;
  let firstAudioAt: number | undefined;
  let lastAudibleAt: number | undefined;
  let audibleBytes = 0;
  let longestGapMs: number | null = null;
  let previous: { at: number; audioMs: number } | undefined;
  /** Until when what came, and what of it can be heard, lasts for one who plays it at once. */
  let playedUntil = 0;
  let heardUntil = 0;
  /** Pairs of AI messages that came while the gate was open: whether a turn ended between them is not known yet. */
  let pairs: { from: number; at: number; audioMs: number }[] = [];

  const departedAt = (moment: number) => departures.find(({ positionMs }) => positionMs >= moment)?.at ?? 0;
  const follow = (events: GateEvent[]) => {
    events.forEach(onGate);
    return events;
  };
  const onGate = (event: GateEvent) => {
    if (event.type === 'speech-start') {
      arrivals = [];
      return;
    }
    const endedAt = departedAt(event.atMs);
    speechEndedAt = endedAt;
    firstAudioAt = arrivals.find((at) => at >= endedAt);
    pairs.forEach(measurePair);
    pairs = [];
  };
  const measurePair = ({ from, at, audioMs }: (typeof pairs)[number]) => {
    const isPauseBetweenReplies = speechEndedAt !== undefined && from < speechEndedAt && at >= speechEndedAt;
    if (isPauseBetweenReplies) return;
    longestGapMs = Math.max(longestGapMs ?? 0, at - from);
    jitter.add(Math.abs(at - from - audioMs));
  };

  const figures = (): Figures => ({
    firstAudioMs:
      firstAudioAt === undefined || speechEndedAt === undefined
        ? null
        : roundMs(firstAudioAt - speechEndedAt),
    jitterMs: jitter.read(),
    longestGapMs: longestGapMs === null ? null : roundMs(longestGapMs),
    sendLatenessMs: lateness.read(),
  });

  return {
    get replyBegunAt() {
      return gate.speaking ? undefined : firstAudioAt;
    },
    get lastAudibleAt() {
      return lastAudibleAt;
    },
    sent(pcm, now) {
      count(out, pcm);
      const events = gate.push(pcm);
      departures.push({ positionMs: gate.positionMs, at: now });
      while ((departures[0]?.positionMs ?? 0) < gate.positionMs - gateMemoryMs) departures.shift();
      return follow(events);
    },
    sentLate: (lateMs) => lateness.add(lateMs),
    finishSpeech: () => follow(gate.end()),
    received(pcm, level, now) {
      count(incoming, pcm);
      // An empty message is no audio.
      if (pcm.length === 0) return undefined;
      if (gate.speaking) {
        arrivals.push(now);
        while ((arrivals[0] ?? now) < now - gateMemoryMs) arrivals.shift();
      } else firstAudioAt ??= now;
      if (level.rmsDbfs > audibleDbfs) {
        lastAudibleAt = now;
        audibleBytes += pcm.length;
      }
      if (previous !== undefined && now - previous.at < settleMs) {
        const pair = { from: previous.at, at: now, audioMs: previous.audioMs };
        if (gate.speaking) pairs.push(pair);
        else measurePair(pair);
      }
      for (let first = pairs[0]; first && first.at < now - gateMemoryMs; first = pairs[0]) {
        measurePair(first);
        pairs.shift();
      }
      const silenceMs = now - playedUntil;
      const isGap = previous !== undefined && now - previous.at < settleMs && silenceMs >= shortestGapMs;
      previous = { at: now, audioMs: msForBytes(pcm.length) };
      playedUntil = Math.max(playedUntil, now) + previous.audioMs;
      if (level.rmsDbfs > audibleDbfs) heardUntil = playedUntil;
      return isGap ? roundMs(silenceMs) : undefined;
    },
    wasHeardAt: (positionMs) => departedAt(positionMs) < heardUntil,
    snapshot: () => ({
      out: { ...out },
      in: { ...incoming },
      audibleMs: msForBytes(audibleBytes),
      ...figures(),
    }),
    figures,
  };
}

function count(totals: AudioTotals, pcm: Buffer): void {
  totals.frames += 1;
  totals.bytes += pcm.length;
  totals.audioMs = msForBytes(totals.bytes);
}

/** Percentiles in constant memory, at a resolution of a microsecond. */
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

/** To a tenth of a millisecond: more is noise. */
export function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}
