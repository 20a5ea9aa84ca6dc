import { escapeText } from '../../../kernel/escape.ts';
import { readSentMessage, wordOfMessage } from '../../../protocol/read-message.ts';
import { readTranscript } from '../../../protocol/transcript.ts';
import { relateTurns } from '../../../recording/turns.ts';
import { describeEmulatorEvent } from '../../../report/emulator-lines.ts';
import type { EventWords } from '../../../report/event-words.ts';
import type { EmulatorEvent, Judgement } from '../../../service/events.ts';
import { createTranscript } from '../../../session/transcript.ts';
import { type HeardStream, type HeardVoice, maxStretches, peakMs } from '../../messages.ts';
import { type Axis, type Mark, type PictureSpan, tones } from '../../view-data.ts';

/** Maximum number of marks of a stream; the oldest are dropped. */
const maxMarks = 1_000;
const maxJudged = 50;

/** One stream as the page knows it. Times are milliseconds since it opened, by the machine's clock. */
export interface PageStream {
  readonly number: number;
  device: string | undefined;
  /** Milliseconds since the emulator started. */
  openedAt: number;
  closedMs: number | undefined;
  /** What was wrong with the audio of the device, once the stream has ended. */
  remarks: readonly string[];
  /** Undefined until it is heard: only the page of the emulator where it is open hears its voices. */
  heardFromMs: number | undefined;
  /** Until when it was heard. */
  heardUntilMs: number;
  /** What nobody heard, in order. */
  readonly unheard: PictureSpan[];
  /** The emulator where it is open, if several are one service. */
  instance: string | undefined;
  readonly voices: { out: LiveVoice; in: LiveVoice };
  readonly gaps: HeardStream['gaps'];
  marks: Mark[];
  /** Marks of turn-taking: yields, false stops, missing replies. */
  turnMarks: Mark[];
  readonly phases: { t: number; state: string }[];
  readonly transcript: ReturnType<typeof createTranscript>;
  /** The first rules that a proxy saw a side break. */
  readonly judged: EventWords[];
  /** Counts changes of who speaks when. */
  speechVersion: number;
}

export function createPageStream(number: number, openedAt: number): PageStream {
  return {
    number,
    device: undefined,
    openedAt,
    closedMs: undefined,
    remarks: [],
    heardFromMs: undefined,
    heardUntilMs: 0,
    unheard: [],
    instance: undefined,
    voices: { out: createLiveVoice(), in: createLiveVoice() },
    gaps: [],
    marks: [],
    turnMarks: [],
    phases: [],
    transcript: createTranscript({ keepsNewest: true, clean: escapeText }),
    judged: [],
    speechVersion: 0,
  };
}

/** Adds what was heard of a stream. */
export function hearPageStream(stream: PageStream, heard: HeardStream, at: number): void {
  stream.openedAt = heard.openedAt;
  markUnheard(stream, heard.heardFromMs);
  stream.heardUntilMs = at - heard.openedAt;
  for (const heardVoice of heard.voices) {
    stream.voices[heardVoice.voice].add(heardVoice, Math.floor(heard.heardFromMs / peakMs));
    if (heardVoice.speech.length > 0) stream.speechVersion += 1;
  }
  const { turns } = heard;
  if (turns !== undefined)
    stream.turnMarks = [...stream.turnMarks.filter(({ t }) => t < turns.fromMs), ...turns.marks];
  keepNewest(stream.turnMarks);
  const last = stream.gaps.at(-1)?.startMs ?? Number.NEGATIVE_INFINITY;
  stream.gaps.push(...heard.gaps.filter(({ startMs }) => startMs > last));
  keepNewest(stream.gaps);
}

/** The emulator started listening again, after a time without viewers; or it has listened all along for another viewer. */
function markUnheard(stream: PageStream, fromMs: number): void {
  if (stream.heardFromMs === fromMs) return;
  endOpenSpeech(stream);
  const { unheard } = stream;
  stream.heardFromMs = fromMs;
  while ((unheard.at(-1)?.endMs ?? 0) > fromMs) unheard.pop();
  if (fromMs > stream.heardUntilMs) unheard.push({ startMs: stream.heardUntilMs, endMs: fromMs });
}

/** Nobody knows how long speech lasted after it was last heard. */
function endOpenSpeech(stream: PageStream): void {
  for (const voice of Object.values(stream.voices)) voice.endAt(stream.heardUntilMs);
  stream.speechVersion += 1;
}

/** The stream has closed. If it was heard until then, the end of its last speech follows. */
export function endPageStream(stream: PageStream, closedMs: number): void {
  stream.closedMs = closedMs;
  endOpenSpeech(stream);
}

type StreamEvent = Extract<EmulatorEvent, { stream: number } | { type: 'fault-struck' } | Judgement>;

/** Adds an event of the stream. `at`: milliseconds since the emulator started. */
export function addEventToPageStream(
  stream: PageStream,
  event: StreamEvent,
  at: number,
  words = describeEmulatorEvent(event),
): void {
  const t = Math.max(0, at - stream.openedAt);
  if ('device' in event && event.device !== undefined) stream.device = event.device;
  if (event.type === 'stream-opened') stream.phases.push({ t: 0, state: 'waits for the token' });
  if (event.type === 'stream-authorised') stream.phases.push({ t, state: 'live' });
  if (event.type === 'stream-closed') {
    endPageStream(stream, event.durationMs);
    stream.remarks = event.remarks;
  }
  if (event.instance !== undefined) stream.instance = event.instance;
  if (event.type === 'message-sent') stream.transcript.add(readTranscript(readSentMessage(event)), t);
  if (isJudgement(event) && stream.judged.length < maxJudged) stream.judged.push(words);
  const agoMs = 'agoMs' in event ? (event.agoMs ?? 0) : 0;
  const mark = markOf(event, Math.max(0, t - agoMs), words);
  if (mark === undefined) return;
  stream.marks.push(mark);
  if (stream.marks.length > maxMarks * 1.2) stream.marks = stream.marks.slice(-maxMarks);
}

function isJudgement(event: StreamEvent): event is StreamEvent & Judgement {
  return event.type === 'violation' || event.type === 'remark';
}

/** The name of a stream's device, for people. */
export function deviceText({ device }: Pick<PageStream, 'device'>): string {
  return device === undefined ? 'no token yet' : escapeText(device);
}

function markOf(event: StreamEvent, t: number, { subject, text, level }: EventWords): Mark | undefined {
  const name = nameOfMark(event) ?? (level === 'info' ? undefined : subject);
  return name === undefined ? undefined : { t, name, text: `${subject}  ${text}`, tone: tones[level] };
}

/** The name of an event's mark in the picture, if it has its own. Warnings are marked with their subject. */
function nameOfMark(event: StreamEvent): string | undefined {
  switch (event.type) {
    case 'message-sent':
      return escapeText(wordOfMessage(readSentMessage(event)));
    case 'reply-ended':
      return event.bargeIn ? 'barge-in' : undefined;
    case 'fault-struck':
      return event.fault;
    case 'device-finding':
    case 'service-finding':
      return event.finding;
    case 'stream-closed':
      return `close ${event.code}`;
    default:
      return undefined;
  }
}

/** The time axis of a stream that is open: a function that returns it for a moment, in milliseconds since the emulator started. */
export function axisOf(stream: PageStream): (at: number) => Axis {
  let version = -1;
  let turns: Axis['turns'] = [];
  const relate = (nowMs: number) => {
    const spoken = (['out', 'in'] as const).flatMap((voice) =>
      stream.voices[voice].speech.map(({ startMs, endMs }) => ({ voice, startMs, endMs: endMs ?? nowMs })),
    );
    return relateTurns(spoken);
  };
  return (at) => {
    const nowMs = stream.closedMs ?? Math.max(0, at - stream.openedAt);
    const isOpen = Object.values(stream.voices).some(({ speech }) => speech.at(-1)?.endMs === null);
    if (version !== stream.speechVersion || isOpen) {
      version = stream.speechVersion;
      turns = relate(nowMs).map((turn) => (turn.endMs === nowMs ? { ...turn, isOpen: true } : turn));
    }
    const { turnMarks, gaps, phases, transcript } = stream;
    const marks =
      turnMarks.length === 0 ? stream.marks : [...stream.marks, ...turnMarks].sort((a, b) => a.t - b.t);
    return { durationMs: nowMs, turns, gaps, marks, phases, spoken: transcript.lines, arrivals: [] };
  };
}

/** One voice of a stream, as far as it was received. */
interface LiveVoice {
  /** Adds what was received of it. Before the peak `heardFrom` nobody listened: what is known of that time stays. */
  add(news: HeardVoice, heardFrom: number): void;
  /** Ends speech that is going on. */
  endAt(ms: number): void;
  /** A byte for each peak. */
  readonly peaks: Uint8Array;
  /** By start, in order. */
  readonly speech: HeardVoice['speech'];
}

function createLiveVoice(): LiveVoice {
  let bytes = new Uint8Array(1_024);
  let count = 0;
  const speech: HeardVoice['speech'] = [];
  return {
    add(news, heardFrom) {
      const { cut } = news;
      if (cut !== undefined) {
        count = Math.min(count, cut);
        while ((speech.at(-1)?.startMs ?? -1) >= cut * peakMs) speech.pop();
      }
      const all = Uint8Array.from(atob(news.peaks), (character) => character.charCodeAt(0));
      const unheard = Math.min(all.length, Math.max(0, heardFrom - news.from));
      const added = all.subarray(unheard);
      const from = news.from + unheard;
      const end = from + added.length;
      if (end > bytes.length) {
        const larger = new Uint8Array(Math.max(end, bytes.length * 2));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(added, from);
      count = Math.max(count, end);
      for (const one of news.speech) {
        const at = speech.findLastIndex(({ startMs }) => startMs === one.startMs);
        if (at < 0) speech.push(one);
        else speech[at] = one;
      }
      keepNewest(speech);
    },
    endAt(ms) {
      const last = speech.at(-1);
      if (last?.endMs === null) speech[speech.length - 1] = { ...last, endMs: Math.max(last.startMs, ms) };
    },
    get peaks() {
      return bytes.subarray(0, count);
    },
    speech,
  };
}

/** Drops the oldest of too many. */
function keepNewest(heard: unknown[]): void {
  heard.splice(0, Math.max(0, heard.length - maxStretches));
}
