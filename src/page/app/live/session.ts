import type { EmulatorEvent } from '../../../emulator/events.ts';
import { relateTurns } from '../../../recording/turns.ts';
import type { NewRow } from '../../../ui/event-list.ts';
import { serveRow } from '../../../ui/serve-rows.ts';
import type { HeardStream } from '../../messages.ts';
import type { Axis, Mark } from '../../view-data.ts';
import { createLiveVoice, type LiveVoice } from './live-voice.ts';

/** Most marks of a session; the oldest are dropped. */
const maxMarks = 1_000;

/** One stream as the page knows it. Times are milliseconds since it opened, by the machine's clock. */
export interface Session {
  readonly stream: number;
  device: string | undefined;
  /** On the axis of the emulator's start. */
  openedAt: number;
  closedMs: number | undefined;
  heardFromMs: number;
  readonly voices: { out: LiveVoice; in: LiveVoice };
  readonly gaps: HeardStream['gaps'];
  marks: Mark[];
  readonly phases: { t: number; state: string }[];
  /** Counts changes of who speaks when. */
  speechVersion: number;
}

export function createSession(stream: number, openedAt: number): Session {
  return {
    stream,
    device: undefined,
    openedAt,
    closedMs: undefined,
    heardFromMs: 0,
    voices: { out: createLiveVoice(), in: createLiveVoice() },
    gaps: [],
    marks: [],
    phases: [],
    speechVersion: 0,
  };
}

/** Takes what was heard of a stream. */
export function hearSession(session: Session, heard: HeardStream): void {
  session.openedAt = heard.openedAt;
  session.heardFromMs = heard.heardFromMs;
  for (const told of heard.voices) {
    session.voices[told.voice].add(told);
    if (told.speech.length > 0) session.speechVersion += 1;
  }
  const last = session.gaps.at(-1)?.startMs ?? Number.NEGATIVE_INFINITY;
  session.gaps.push(...heard.gaps.filter(({ startMs }) => startMs > last));
}

type StreamEvent = Extract<EmulatorEvent, { stream: number } | { type: 'fault-struck' }>;

/** Takes an event of the stream. `at`: on the axis of the emulator's start. */
export function noteEvent(session: Session, event: StreamEvent, at: number, row = serveRow(event)): void {
  const t = Math.max(0, at - session.openedAt);
  if ('device' in event && event.device !== undefined) session.device = event.device;
  if (event.type === 'stream-opened') session.phases.push({ t: 0, state: 'waits for the token' });
  if (event.type === 'stream-authorised') session.phases.push({ t, state: 'live' });
  if (event.type === 'stream-closed') session.closedMs = t;
  const mark = markOf(event, t, row);
  if (mark === undefined) return;
  session.marks.push(mark);
  if (session.marks.length > maxMarks * 1.2) session.marks = session.marks.slice(-maxMarks);
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
    const { marks, gaps, phases } = session;
    return { durationMs: nowMs, turns, gaps, marks, phases, arrivals: [] };
  };
}
