import { createBlockJoiner } from '../../audio/blocks.ts';
import { maxLatenessMs } from '../../audio/dialogue/listener.ts';
import { createSpeechGate, turnHangOverMs } from '../../audio/speech-gate.ts';
import { createTurnTaking, isGap, type TurnTaking } from '../../audio/turn-taking.ts';
import { defaultSettleMs, defaultWaitMs } from '../../kernel/audio-limits.ts';
import { bytesForMs, bytesPerSample, msForBytes } from '../../protocol/audio-format.ts';
import type { Direction } from '../../recording/format.ts';
import { watchInterruptions } from '../../recording/recorder.ts';
import { createTrack } from '../../recording/track.ts';
import {
  addTurnNews,
  createTurnWatch,
  type SeenTurns,
  type TurnNews,
  type TurnWatch,
} from '../../report/turn-watch.ts';
import type { PageHost } from '../../service/control/page-handler.ts';
import type { Tap } from '../../wire/tap.ts';
import { type HeardStream, type HeardVoice, maxStretches, peakMs } from '../messages.ts';
import { markOfDialogue } from '../recording-view.ts';

/** Ended streams that a tab which opens later still gets. */
const maxEnded = 20;

/** Listens to every stream while a page is open. */
export interface Hearing {
  /** What is new since the last call; with `all` everything. Streams without news are left out. */
  drain(all?: boolean): HeardStream[];
  stop(): void;
}

interface Heard {
  openedAt: number;
  heardFromMs: number;
  out: VoiceTrace;
  in: VoiceTrace;
  gaps: HeardStream['gaps'];
  newGaps: HeardStream['gaps'];
  replies: TurnTaking;
  /** On a time axis that begins when the stream begins to be heard: the judge knows only an hour. */
  watch: TurnWatch;
  turns: SeenTurns;
  /** When both last spoke at once, and when that was last judged. */
  metMs: number;
  lookedMs: number;
  isNew: boolean;
  /** Set once the stream has ended: then nobody waits for a reply. */
  endedMs: number | undefined;
}

export function startHearing({ elapsedMs, observe }: Pick<PageHost, 'elapsedMs' | 'observe'>): Hearing {
  const heard = new Map<number, Heard>();

  const forgetOldest = () => {
    const ended = [...heard].filter(([, one]) => one.endedMs !== undefined);
    for (const [stream] of ended.slice(0, Math.max(0, ended.length - maxEnded))) heard.delete(stream);
  };
  const listen = (stream: number, ageMs: number): Tap => {
    const one = beginToHear(elapsedMs() - ageMs, ageMs);
    const interrupts = watchInterruptions();
    heard.set(stream, one);
    return {
      message(message) {
        const t = elapsedMs() - one.openedAt;
        if (interrupts(message)) {
          one.replies.interrupted(t);
          one.watch.interrupted(t - ageMs);
          one.in.drop(t);
          one.metMs = Math.max(one.metMs, one.out.speaksAt(t) ? t : one.metMs);
        }
        if (!('data' in message)) return;
        if (message.from === 'device') {
          one.out.hear(t, message.data);
          one.replies.sent(message.data, t);
          one.watch.sent(message.data, t - ageMs);
        } else {
          one.in.hear(t, message.data);
          one.replies.received(message.data.length, t);
          one.watch.received(message.data, t - ageMs);
        }
        if (one.out.speaksAt(t) && one.in.speaksAt(t)) one.metMs = t;
      },
      closed() {
        one.endedMs = elapsedMs() - one.openedAt;
        one.out.end();
        one.in.end();
        forgetOldest();
      },
    };
  };
  const stop = observe(listen);

  return {
    stop,
    drain(all = false) {
      const now = elapsedMs();
      const due = [...heard.values()].filter((one) => !all && isDue(one, one.endedMs ?? now - one.openedAt));
      const looked = new Set(due.sort((a, b) => a.lookedMs - b.lookedMs).slice(0, mostLooks));
      return [...heard].flatMap(([stream, one]) => {
        const at = one.endedMs !== undefined ? Number.NEGATIVE_INFINITY : now - one.openedAt;
        const voices = [one.out.drain(at, all), one.in.drain(at, all)].filter((voice) => voice !== undefined);
        const gaps = all ? one.gaps : one.newGaps;
        const turns = turnsOf(one, { t: one.endedMs ?? now - one.openedAt, isDue: looked.has(one), all });
        const isNews = all || one.isNew || voices.length > 0 || gaps.length > 0 || turns !== undefined;
        if (!all) {
          one.newGaps = [];
          one.isNew = false;
        }
        const { openedAt, heardFromMs } = one;
        if (!isNews) return [];
        return [{ stream, openedAt, heardFromMs, voices, gaps: [...gaps], ...(turns && { turns }) }];
      });
    },
  };
}

function beginToHear(openedAt: number, heardFromMs: number): Heard {
  const one: Heard = {
    openedAt,
    heardFromMs,
    out: createVoiceTrace('out', heardFromMs),
    in: createVoiceTrace('in', heardFromMs),
    gaps: [],
    newGaps: [],
    // Finds gaps the same way as for a recording.
    replies: createTurnTaking({
      settleMs: defaultSettleMs,
      onPair(pair) {
        if (!isGap(pair)) return;
        const gap = { startMs: pair.at - pair.silenceMs, endMs: pair.at };
        for (const gaps of [one.gaps, one.newGaps]) {
          gaps.push(gap);
          if (gaps.length > maxStretches) gaps.shift();
        }
      },
    }),
    watch: createTurnWatch(defaultWaitMs),
    turns: { overlaps: [], marks: [] },
    metMs: Number.NEGATIVE_INFINITY,
    lookedMs: Number.NEGATIVE_INFINITY,
    isNew: true,
    endedMs: undefined,
  };
  return one;
}

/** How often a stream that can have new marks is judged, for how long, and how many at a time. */
const lookEveryMs = 500;
const lookForMs = 5_000;
const mostLooks = 2;

/**
 * Only a stream in which both have just spoken at once, or in which the wait for a reply is just over, can have new marks. A
 * stream that has ended is judged once more, at its end.
 */
function isDue({ metMs, lookedMs, endedMs, ...voices }: Heard, t: number): boolean {
  const waitedMs = t - (unansweredSince(voices) ?? Number.POSITIVE_INFINITY);
  const isOver = waitedMs >= defaultWaitMs && waitedMs < defaultWaitMs + lookForMs;
  const isTime = endedMs === undefined ? t - lookedMs >= lookEveryMs : lookedMs < endedMs;
  return (t - metMs < lookForMs || isOver) && isTime;
}

/** When the user finished speaking, if the AI has not spoken since. */
function unansweredSince({ out, in: ai }: Pick<Heard, 'out' | 'in'>): number | undefined {
  const endMs = out.last?.endMs ?? undefined;
  return endMs !== undefined && (ai.last?.startMs ?? 0) <= endMs ? endMs : undefined;
}

function turnsOf(
  one: Heard,
  { t, isDue, all }: { t: number; isDue: boolean; all: boolean },
): HeardStream['turns'] {
  const before = one.turns.marks;
  const { heardFromMs } = one;
  let fromMs = heardFromMs;
  if (isDue) {
    const isOver = one.endedMs !== undefined;
    const news = laterBy(heardFromMs, one.watch.look(t - heardFromMs, isOver));
    one.lookedMs = isOver ? Number.POSITIVE_INFINITY : t;
    one.turns = addTurnNews(one.turns, news);
    fromMs = news.fromMs;
  }
  const { marks } = one.turns;
  if (all) return marks.length === 0 ? undefined : { fromMs, marks: marks.map(markOfDialogue) };
  const isSame =
    marks.length === before.length &&
    marks.every(({ t: at, text }, index) => before[index]?.t === at && before[index].text === text);
  return isSame ? undefined : { fromMs, marks: marks.filter((mark) => mark.t >= fromMs).map(markOfDialogue) };
}

/** The news on a time axis that began `ms` earlier. */
function laterBy(ms: number, { type, fromMs, overlaps, marks }: TurnNews): TurnNews {
  return {
    type,
    fromMs: fromMs + ms,
    overlaps: overlaps.map(({ startMs, endMs }) => ({ startMs: startMs + ms, endMs: endMs + ms })),
    marks: marks.map((mark) => ({ ...mark, t: mark.t + ms })),
  };
}

/** Longest trace: 90 minutes. Later audio is not drawn. */
const maxPeaks = (90 * 60_000) / peakMs;
const bucketBytes = bytesForMs(peakMs);
const silence = Buffer.alloc(bytesForMs(1_000));

/** One voice of a stream on its time axis, placed like in a recording: its peaks, and when it speaks. */
interface VoiceTrace {
  /** Takes a message at `t`. */
  hear(t: number, pcm: Buffer): void;
  /** What is new since the last call, up to `now`; with `all`, from the start. Undefined if nothing is new. */
  drain(now: number, all?: boolean): HeardVoice | undefined;
  /** Ends speech that is going on. */
  end(): void;
  /** Drops what has not been heard at `t`. */
  drop(t: number): void;
  /** Whether it speaks at `t` or has just paused. */
  speaksAt(t: number): boolean;
  /** The newest speech. */
  readonly last: Speech | undefined;
}

type Speech = HeardVoice['speech'][number];

/** `fromMs`: how old the stream is when it begins to be heard. */
function createVoiceTrace(voice: Direction, fromMs: number): VoiceTrace {
  const track = createTrack(maxLatenessMs[voice]);
  const gate = createSpeechGate();
  const wholeSamples = createBlockJoiner();
  /** Of a sample that the next message completes. */
  let carriedBytes = 0;
  let peaks = new Uint8Array(3_000);
  let count = 0;
  // The gate gets nothing of the time before: for an old stream, that would take seconds.
  const skippedBytes = bytesForMs(fromMs);
  let gatedBytes = skippedBytes;
  let taken = 0;
  const speech: Speech[] = [];
  let firstNews = 0;
  /** Length of the audio that the gate got and that was dropped later, less what it did not get. */
  let goneMs = -msForBytes(skippedBytes);
  let cut = Number.POSITIVE_INFINITY;

  const addEvents = (events: ReturnType<typeof gate.push>) => {
    for (const event of events) {
      if (event.type === 'speech-start') {
        speech.push({ startMs: event.atMs - goneMs, endMs: null });
        if (speech.length <= maxStretches) continue;
        speech.shift();
        firstNews = Math.max(0, firstNews - 1);
      } else {
        const at = speech.length - 1;
        const last = speech[at];
        if (last !== undefined) speech[at] = { ...last, endMs: event.atMs - goneMs };
        firstNews = Math.min(firstNews, Math.max(0, at));
      }
    }
  };
  const gateTo = (bytes: number) => {
    while (gatedBytes < bytes) {
      const part = silence.subarray(0, Math.min(silence.length, bytes - gatedBytes));
      addEvents(gate.push(part));
      gatedBytes += part.length;
    }
  };
  const raise = (at: number, pcm: Buffer) => {
    const last = Math.min(maxPeaks, Math.ceil((at + pcm.length) / bucketBytes));
    if (last > peaks.length) {
      const larger = new Uint8Array(Math.max(last, peaks.length * 2));
      larger.set(peaks);
      peaks = larger;
    }
    // Several times faster than reading each sample from the buffer.
    const samples = new DataView(pcm.buffer, pcm.byteOffset, pcm.length);
    for (let offset = 0; offset + 1 < pcm.length; ) {
      const bucket = Math.floor((at + offset) / bucketBytes);
      if (bucket >= maxPeaks) return;
      const end = Math.min(pcm.length - 1, (bucket + 1) * bucketBytes - at);
      let peak = 0;
      for (; offset < end; offset += bytesPerSample) {
        const size = Math.abs(samples.getInt16(offset, true));
        if (size > peak) peak = size;
      }
      peaks[bucket] = Math.max(peaks[bucket] ?? 0, Math.ceil((peak / 0x8000) * 255));
      taken = Math.min(taken, bucket);
    }
    count = Math.max(count, last);
  };

  return {
    hear(t, pcm) {
      const { at } = track.place(t, pcm.length);
      gateTo(at);
      addEvents(gate.push(pcm));
      gatedBytes += pcm.length;
      const whole = wholeSamples.push(pcm);
      raise(Math.max(0, at - carriedBytes), whole);
      carriedBytes += pcm.length - whole.length;
    },
    drain(now, all = false) {
      // Audio that arrives from now on is not placed before this.
      if (now - msForBytes(track.endBytes) > maxLatenessMs[voice]) gateTo(bytesForMs(now));
      const from = all ? 0 : taken;
      const news = all ? speech : speech.slice(firstNews);
      const isDropped = cut < Number.POSITIVE_INFINITY && !all;
      if (from === count && news.length === 0 && !isDropped) return undefined;
      const sounds = {
        ...{ voice, from, peaks: Buffer.from(peaks.subarray(from, count)).toString('base64') },
        ...(isDropped ? { cut } : {}),
      };
      if (!all) {
        taken = count;
        cut = Number.POSITIVE_INFINITY;
        firstNews = speech.length;
      }
      return { ...sounds, speech: [...news] };
    },
    end: () => addEvents(gate.end()),
    drop(t) {
      const to = bytesForMs(Math.ceil(t));
      if (to >= track.endBytes) return;
      addEvents(gate.end());
      track.cut(to);
      goneMs += msForBytes(Math.max(0, gatedBytes - to));
      gatedBytes = Math.min(gatedBytes, to);
      while ((speech.at(-1)?.startMs ?? -1) >= t) speech.pop();
      const last = speech.at(-1);
      if (last !== undefined && (last.endMs ?? t) > t) speech[speech.length - 1] = { ...last, endMs: t };
      firstNews = Math.min(firstNews, Math.max(0, speech.length - 1));
      count = Math.min(count, Math.ceil(to / bucketBytes));
      peaks.fill(0, count);
      taken = Math.min(taken, count);
      cut = Math.min(cut, count);
    },
    speaksAt(t) {
      const last = speech.findLast(({ startMs }) => startMs <= t);
      return last !== undefined && t <= (last.endMs ?? t) + turnHangOverMs;
    },
    get last() {
      return speech.at(-1);
    },
  };
}
