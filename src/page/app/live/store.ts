import { batch, computed, signal } from '@preact/signals';
import { systemClock } from '../../../kernel/clock.ts';
import type { EmulatorState } from '../../../protocol/control.ts';
import { countText } from '../../../protocol/count-text.ts';
import { say } from '../../../report/event-words.ts';
import { countEvent, noCounters } from '../../../report/serve-counters.ts';
import type { EmulatorEvent } from '../../../service/events.ts';
import { addRows, createList, type NewRow, rowOfEvent } from '../../../ui/event-list.ts';
import type { Hello, PageMessage, RecordingState } from '../../messages.ts';
import { link } from './link.ts';
import { addEventToSession, createSession, hearSession, type Session } from './page-stream.ts';

/** Sessions that have ended and are still shown. */
const maxEnded = 20;

/** An event with its number, as the journal has it. */
export type Entry = { seq: number } & EmulatorEvent;

/** What the page knows of its emulator. Components read the signals; messages of the feed change them. */
export const hello = signal<Hello>();
export const isProxy = () => hello.value?.target !== undefined;
/** What serves the page. */
export const place = () => (isProxy() ? 'proxy' : 'emulator');
export const emulatorState = signal<EmulatorState>();
export const recordings = signal<readonly RecordingState[]>([]);
export const list = signal(createList('service'));
export const counters = signal(noCounters);
/** The newest first; a session that has ended comes after those that go on. */
export const sessions = signal<readonly Session[]>([]);
/** Counts up whenever audio or events came: pictures are drawn again. */
export const beat = signal(0);
const chosen = signal<number>();
/** A finished recording that is shown in place of the page. */
export const openedRecording = signal<number>();
/** Whether the keys are shown. */
export const help = signal(false);

/** The session that is shown and that keys act on: the chosen one, else the oldest that goes on. */
export const shown = computed(
  () =>
    sessions.value.find(({ stream }) => stream === chosen.value) ??
    sessions.value.findLast(({ closedMs }) => closedMs === undefined) ??
    sessions.value[0],
);

export function choose(stream: number): void {
  chosen.value = stream;
}

let lastSeq = 0;
let aheadMs = 0;
let moment = { at: 0, local: 0 };
const known = new Map<number, Session>();

/** The number of the last event that arrived. */
export const lastEvent = () => lastSeq;

/** Milliseconds since the emulator started, as far as the last message tells. */
export function elapsedMs(): number {
  return moment.at + (link.value === 'live' ? systemClock.now() - moment.local : 0);
}

/** Takes one message of the feed. */
export function take(message: PageMessage): void {
  batch(() => applyMessage(message));
}

function applyMessage(message: PageMessage): void {
  switch (message.type) {
    case 'hello':
      hello.value = message;
      aheadMs = message.aheadMs;
      link.value = 'live';
      break;
    case 'events':
      addEntries(message.entries as Entry[]);
      break;
    case 'audio':
      tick(message.at);
      for (const heard of message.streams)
        hearSession(sessionOf(heard.stream, heard.openedAt), heard, message.at);
      showSessions();
      break;
    case 'state':
      tick(message.at);
      emulatorState.value = message.state;
      recordings.value = message.recordings;
      for (const { stream, device, durationMs } of message.state.streams) {
        const session = sessionOf(stream, message.at - durationMs);
        session.device ??= device ?? undefined;
      }
      endMissing(message.state, message.at);
      showRows();
      showSessions();
  }
  if (message.type === 'audio' || message.type === 'state') beat.value += 1;
}

/** In a flood of events the list is shown anew only so often. */
const listEveryMs = 250;
const fewRows = 20;
const waiting: NewRow[] = [];
let listedAt = Number.NEGATIVE_INFINITY;

function addEntries(entries: readonly Entry[]): void {
  const rows: NewRow[] = [];
  let counted = counters.peek();
  for (const { seq, ...event } of entries) {
    if (seq <= lastSeq) continue;
    if (lastSeq > 0 && seq > lastSeq + 1) rows.push(lost(seq - lastSeq - 1, event.t));
    lastSeq = seq;
    aheadMs += movedBy(event) ?? 0;
    const row = rowOfEvent(event);
    rows.push(row);
    counted = countEvent(counted, event);
    if (event.type === 'stopping') link.value = 'stopped';
    if ('stream' in event && event.stream !== undefined) {
      const at = event.t - aheadMs;
      addEventToSession(sessionOf(event.stream, at), event as never, at, row);
    }
  }
  if (rows.length === 0) return;
  counters.value = counted;
  waiting.push(...rows);
  if (waiting.length <= fewRows || systemClock.now() - listedAt >= listEveryMs) showRows();
  showSessions();
}

function showRows(): void {
  if (waiting.length === 0) return;
  listedAt = systemClock.now();
  list.value = addRows(list.peek(), waiting.splice(0));
}

function movedBy(event: EmulatorEvent): number | undefined {
  return event.type === 'control' ? event.byMs : undefined;
}

/** Stands where events are missing: the tab was asleep or too slow. */
function lost(count: number, t: number): NewRow {
  return {
    t,
    ...say('self', 'gap', `missed ${countText(count, 'event')}`),
    level: 'warning',
    event: { type: 'gap', count },
  };
}

function tick(at: number): void {
  moment = { at, local: systemClock.now() };
}

function sessionOf(stream: number, openedAt: number): Session {
  const found = known.get(stream) ?? createSession(stream, openedAt);
  known.set(stream, found);
  return found;
}

/** A close that was missed. */
function endMissing({ streams }: EmulatorState, at: number): void {
  const open = new Set(streams.map(({ stream }) => stream));
  for (const session of known.values())
    if (!open.has(session.stream)) session.closedMs ??= Math.max(0, at - session.openedAt);
}

function showSessions(): void {
  const all = [...known.values()].sort((a, b) => b.stream - a.stream);
  const ended = all.filter(({ closedMs }) => closedMs !== undefined);
  for (const { stream } of ended.slice(maxEnded)) known.delete(stream);
  const next = [...all.filter(({ closedMs }) => closedMs === undefined), ...ended.slice(0, maxEnded)];
  const isSame =
    next.length === sessions.peek().length && next.every((one, index) => one === sessions.peek()[index]);
  if (!isSame) sessions.value = next;
}
