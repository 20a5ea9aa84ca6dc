import { readServiceBody } from '../../../protocol/read-message.ts';
import { readTranscript } from '../../../protocol/transcript.ts';
import { relateTurns } from '../../../recording/turns.ts';
import type { EmulatorEvent, Judgement } from '../../../service/events.ts';
import { createTranscript } from '../../../session/transcript.ts';
import type { NewRow } from '../../../ui/event-list.ts';
import { serveRow } from '../../../ui/serve-rows.ts';
import { type HeardStream, peakMs } from '../../messages.ts';
import type { Axis, Mark, Span } from '../../view-data.ts';
import { createLiveVoice, type LiveVoice } from './live-voice.ts';

/** Most marks of a session; the oldest are dropped. */
const maxMarks = 1_000;
const maxJudged = 50;

/** One stream as the page knows it. Times are milliseconds since it opened, by the machine's clock. */
export interface Session {
  readonly stream: number;
  device: string | undefined;
  /** On the axis of the emulator's start. */
  openedAt: number;
  closedMs: number | undefined;
  /** Undefined until it is heard: its voices are, on the page of the emulator where it is open. */
  heardFromMs: number | undefined;
  /** Until when it was heard. */
  heardUntilMs: number;
  /** What nobody heard, in order. */
  readonly unheard: Span[];
  /** The emulator where it is open, if several are one service. */
  instance: string | undefined;
  readonly voices: { out: LiveVoice; in: LiveVoice };
  readonly gaps: HeardStream['gaps'];
  marks: Mark[];
  readonly phases: { t: number; state: string }[];
  readonly transcript: ReturnType<typeof createTranscript>;
  /** What a proxy holds against a side: the first ones. */
  readonly judged: Judgement[];
  /** Counts changes of who speaks when. */
  speechVersion: number;
}

export function createSession(stream: number, openedAt: number): Session {
  return {
    stream,
    device: undefined,
    openedAt,
    closedMs: undefined,
    heardFromMs: undefined,
    heardUntilMs: 0,
    unheard: [],
    instance: undefined,
    voices: { out: createLiveVoice(), in: createLiveVoice() },
    gaps: [],
    marks: [],
    phases: [],
    transcript: createTranscript({ keepsNewest: true }),
    judged: [],
    speechVersion: 0,
  };
}

/** Takes what was heard of a stream. */
export function hearSession(session: Session, heard: HeardStream, at: number): void {
  session.openedAt = heard.openedAt;
  noteUnheard(session, heard.heardFromMs);
  session.heardUntilMs = at - heard.openedAt;
  for (const told of heard.voices) {
    session.voices[told.voice].add(told, Math.floor(heard.heardFromMs / peakMs));
    if (told.speech.length > 0) session.speechVersion += 1;
  }
  const last = session.gaps.at(-1)?.startMs ?? Number.NEGATIVE_INFINITY;
  session.gaps.push(...heard.gaps.filter(({ startMs }) => startMs > last));
}

/** The emulator began to listen anew, because no page was looking; or somebody else listened all the time. */
function noteUnheard(session: Session, fromMs: number): void {
  if (session.heardFromMs === fromMs) return;
  const { unheard } = session;
  session.heardFromMs = fromMs;
  while ((unheard.at(-1)?.endMs ?? 0) > fromMs) unheard.pop();
  if (fromMs > session.heardUntilMs) unheard.push({ startMs: session.heardUntilMs, endMs: fromMs });
}

type StreamEvent = Extract<EmulatorEvent, { stream: number } | { type: 'fault-struck' } | Judgement>;

/** Takes an event of the stream. `at`: on the axis of the emulator's start. */
export function noteEvent(session: Session, event: StreamEvent, at: number, row = serveRow(event)): void {
  const t = Math.max(0, at - session.openedAt);
  if ('device' in event && event.device !== undefined) session.device = event.device;
  if (event.type === 'stream-opened') session.phases.push({ t: 0, state: 'waits for the token' });
  if (event.type === 'stream-authorised') session.phases.push({ t, state: 'live' });
  if (event.type === 'stream-closed') session.closedMs = t;
  if (event.instance !== undefined) session.instance = event.instance;
  if (event.type === 'message-sent') session.transcript.take(readTranscript(readServiceBody(event.body)), t);
  if (isJudgement(event) && session.judged.length < maxJudged) session.judged.push(event);
  const mark = markOf(event, t, row);
  if (mark === undefined) return;
  session.marks.push(mark);
  if (session.marks.length > maxMarks * 1.2) session.marks = session.marks.slice(-maxMarks);
}

function isJudgement(event: StreamEvent): event is StreamEvent & Judgement {
  return event.type === 'violation' || event.type === 'remark';
}

function markOf(event: StreamEvent, t: number, { kind, text }: NewRow): Mark | undefined {
  switch (event.type) {
    case 'message-sent':
      return {
        t,
        name: nameOf(event.body) ?? kind,
        text: `${kind}  ${text}`,
        tone: isError(event.body) ? 'bad' : 'ink',
      };
    case 'reply-ended':
      return event.bargeIn ? { t, name: 'barge-in', text, tone: 'note' } : undefined;
    case 'fault-struck':
      return { t, name: event.fault, text: `fault ${text}`, tone: 'bad' };
    case 'device-finding':
      return { t, name: event.finding, text, tone: 'note' };
    case 'violation':
    case 'remark':
      return { t, name: `${event.side} ${kind}`, text, tone: event.type === 'violation' ? 'bad' : 'note' };
    case 'reply-failed':
    case 'token-problem':
      return { t, name: kind, text, tone: 'bad' };
    case 'stream-closed':
      return { t, name: `close ${event.code}`, text, tone: event.code > 1001 ? 'note' : 'ink' };
    default:
      return undefined;
  }
}

function nameOf(body: unknown): string | undefined {
  const status = Object(body).status as unknown;
  return typeof status === 'string' ? status : undefined;
}

function isError(body: unknown): boolean {
  return Object(body).error !== undefined;
}

/** The time axis of a session that goes on: a function that gives it at a moment of the emulator's axis. */
export function axisOf(session: Session): (at: number) => Axis {
  let version = -1;
  let turns: Axis['turns'] = [];
  const relate = (nowMs: number) => {
    const spoken = (['out', 'in'] as const).flatMap((voice) =>
      session.voices[voice].speech.map(({ startMs, endMs }) => ({ voice, startMs, endMs: endMs ?? nowMs })),
    );
    return relateTurns(spoken);
  };
  return (at) => {
    const nowMs = session.closedMs ?? Math.max(0, at - session.openedAt);
    const isOpen = Object.values(session.voices).some(({ speech }) => speech.at(-1)?.endMs === null);
    if (version !== session.speechVersion || isOpen) {
      version = session.speechVersion;
      turns = relate(nowMs).map((turn) => (turn.endMs === nowMs ? { ...turn, isOpen: true } : turn));
    }
    const { marks, gaps, phases, transcript } = session;
    return { durationMs: nowMs, turns, gaps, marks, phases, spoken: transcript.lines, arrivals: [] };
  };
}
