import { isInterruption, type ServiceMessage } from '../protocol/read-message.ts';
import { dialogueMarks } from '../report/dialogue-lines.ts';
import { describeExpectations, describeSessionEvent } from '../report/session-lines.ts';
import { addTurnNews, type SeenTurns, type TurnNews } from '../report/turn-watch.ts';
import type { AudioDirection, SessionEvent, SessionState } from '../session/events.ts';
import { type AudioEvent, sumAudio } from '../session/fold-audio.ts';
import type { Figures, PlaybackFigures } from '../session/metrics.ts';
import { appendRows, type Browser, createBrowser, type Pressed, pressKey, withNotice } from './browser.ts';
import type { NewRow } from './event-list.ts';
import { type Meter, raiseMeter, restingMeter } from './meter.ts';
import type { Notice, ScreenStart } from './port.ts';
import type { Key } from './read-keys.ts';
import { addAudio, dropAudio, silentVoice, type TimelineVoice, timelineSpanMs } from './timeline.ts';

type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

export interface TimelineMark {
  t: number;
  /** `barge-in`, `gap`, or what was found in the AI's audio, such as `click`. */
  what: string;
}

/** The state of the screen of a session. */
export interface StreamModel extends Browser {
  session: EventOf<'session'> | undefined;
  state: SessionState | undefined;
  token: EventOf<'token'> | undefined;
  meters: Record<AudioDirection, Meter>;
  voices: Record<AudioDirection, TimelineVoice>;
  marks: readonly TimelineMark[];
  /** Where both speak, where the AI yields, and where it stops for a sound that is not a turn. */
  turns: SeenTurns;
  isSpeaking: boolean;
  figures: (Figures & Partial<PlaybackFigures>) | undefined;
  summary: EventOf<'summary'> | undefined;
  isMuted: boolean;
  /** Push-to-talk: unmuted until this moment unless the key repeats. */
  talksUntil: number | undefined;
  isEnding: boolean;
  /** Rows of audio that still grow. */
  growing: Partial<Record<AudioDirection, number>>;
}

const freshSession = {
  session: undefined,
  state: undefined,
  token: undefined,
  meters: { out: restingMeter, in: restingMeter },
  voices: { out: silentVoice, in: silentVoice },
  marks: [],
  turns: { overlaps: [], marks: [] },
  isSpeaking: false,
  figures: undefined,
  summary: undefined,
  isEnding: false,
  growing: {},
} as const;

export function createStreamModel(start: ScreenStart): StreamModel {
  return { ...createBrowser(start), ...freshSession, isMuted: false, talksUntil: undefined };
}

/** What happens on the screen of a session. */
export type StreamNews = SessionEvent | TurnNews | Notice;

export function reduceStream(model: StreamModel, events: readonly StreamNews[]): StreamModel {
  return events.reduce<StreamModel>(reduceNews, model);
}

function reduceNews(model: StreamModel, event: StreamNews): StreamModel {
  if (event.type === 'notice') return withNotice(model, event.text);
  if (event.type === 'turns') return { ...model, turns: addTurnNews(model.turns, event) };
  if (event.type === 'audio') return hear(model, event);
  // Figures have their own panel.
  const listed = event.type === 'figures' ? model : appendRows({ ...model, growing: {} }, rowsOf(event));
  switch (event.type) {
    case 'session':
      // Another session on the same screen resets everything but the list.
      return { ...listed, ...freshSession, session: event };
    case 'state':
      return { ...listed, state: event.state };
    case 'token':
      return { ...listed, token: event };
    case 'speech':
      return {
        ...listed,
        isSpeaking: event.state === 'start',
        marks: event.bargeIn ? mark(listed, { t: event.t, what: 'barge-in' }) : listed.marks,
      };
    case 'warning':
      if (event.agoMs === undefined) return listed;
      return { ...listed, marks: mark(listed, { t: event.t - event.agoMs, what: event.code }) };
    case 'gap':
      return { ...listed, marks: mark(listed, { t: event.atMs ?? event.t, what: 'gap' }) };
    case 'figures':
      return { ...listed, figures: event };
    case 'message':
      if (!isInterruption(event as Pick<ServiceMessage, 'category' | 'kind' | 'body'>)) return listed;
      return { ...listed, voices: { ...listed.voices, in: dropAudio(listed.voices.in, event.t) } };
    case 'summary':
      return { ...listed, summary: event, figures: event, turns: turnsOf(event) ?? listed.turns };
    default:
      return listed;
  }
}

/** The turn-taking of the whole session. */
function turnsOf({ dialogue }: EventOf<'summary'>): SeenTurns | undefined {
  return dialogue && { overlaps: dialogue.overlaps, marks: dialogueMarks(dialogue) };
}

function rowsOf(event: SessionEvent): NewRow[] {
  const words = event.type === 'summary' ? describeExpectations(event) : [];
  return [...words, describeSessionEvent(event)].map((said) => ({ ...said, event }));
}

function mark({ marks }: StreamModel, added: TimelineMark): readonly TimelineMark[] {
  const kept = [...marks.filter(({ t }) => t > added.t - timelineSpanMs), added];
  return kept.toSorted((a, b) => a.t - b.t);
}

/** Adds audio to the meter, the timeline, and one row of the list, which grows until something else happens. */
function hear(model: StreamModel, event: AudioEvent): StreamModel {
  const { direction } = event;
  const heard = {
    ...model,
    meters: { ...model.meters, [direction]: raiseMeter(model.meters[direction], event.t, event) },
    voices: { ...model.voices, [direction]: addAudio(model.voices[direction], event) },
  };
  const id = model.growing[direction];
  const rows = model.list.rows;
  const index = id === undefined ? -1 : id - (rows[0]?.id ?? 0);
  const before = rows[index];
  if (before === undefined) {
    const added = appendRows(heard, rowsOf(event));
    return { ...added, growing: { ...model.growing, [direction]: added.list.rows.at(-1)?.id } };
  }
  const sum: AudioEvent = { ...event, ...sumAudio(before.event as AudioEvent, event), t: before.t };
  const grown = { ...describeSessionEvent(sum), event: sum, id: before.id };
  return { ...heard, list: { ...model.list, rows: rows.with(index, grown) } };
}

/** A held key repeats within this time, even the first time. */
const keyHeldMs = 700;

/** Handles a key. */
export function pressStreamKey(
  model: StreamModel,
  key: Key,
  { listLines }: { listLines: number },
): Pressed<StreamModel> {
  const { command, ...pressed } = pressKey(model, key, listLines);
  const next = pressed.model;
  if (pressed.actions.some(({ type }) => type === 'quit')) {
    return { actions: pressed.actions, model: { ...next, isEnding: true } };
  }
  switch (command) {
    case 'mute':
      return setMuted({ ...next, talksUntil: undefined }, !next.isMuted);
    case 'talk': {
      const talking = { ...next, talksUntil: next.now + keyHeldMs };
      return next.isMuted || next.talksUntil === undefined
        ? setMuted(talking, false)
        : { model: talking, actions: [] };
    }
    case 'reconnect':
      return { model: next, actions: [{ type: 'reconnect' }] };
    default:
      return pressed;
  }
}

const idleAfterEnd = ['mute', 'talk'] as const;

/** Updates what depends on the moment: a key that is no longer held, and the keys that do nothing now. */
export function settleStream(before: StreamModel): Pressed<StreamModel> {
  const idle = before.summary === undefined ? [] : idleAfterEnd;
  const model = idle.length === before.idle.length ? before : { ...before, idle };
  const isReleased = model.talksUntil !== undefined && model.now >= model.talksUntil;
  return isReleased ? setMuted({ ...model, talksUntil: undefined }, true) : { model, actions: [] };
}

function setMuted(model: StreamModel, isMuted: boolean): Pressed<StreamModel> {
  return { model: { ...model, isMuted }, actions: [{ type: 'mute', on: isMuted }] };
}
