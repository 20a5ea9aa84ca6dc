import { batch, computed, signal } from '@preact/signals';
import { systemClock } from '../../../kernel/clock.ts';
import type { EmulatorState } from '../../../protocol/control.ts';
import { countText } from '../../../protocol/count-text.ts';
import { say } from '../../../report/event-words.ts';
import { noCounters } from '../../../report/serve-counters.ts';
import type { EmulatorEvent } from '../../../service/events.ts';
import { addRows, createList, type NewRow, rowOfEvent } from '../../../ui/event-list.ts';
import type { Hello, PageMessage, RecordingState } from '../../messages.ts';
import { link } from './link.ts';
import {
  addEventToPageStream,
  createPageStream,
  endPageStream,
  hearPageStream,
  type PageStream,
} from './page-stream.ts';

/** Streams that have ended and are still shown. */
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
/** What the emulator has done since it started, as it counts itself. */
export const counters = signal(noCounters);
/** The newest first; those that have ended come after those that are open. */
export const pageStreams = signal<readonly PageStream[]>([]);
/** Counts up whenever audio or a state came: pictures are drawn again. */
export const redrawCount = signal(0);
const chosen = signal<number>();
/** A finished recording that is shown in place of the page. */
export const openedRecording = signal<number>();
/** Whether the keys are shown. */
export const help = signal(false);

/** The stream that is shown and that keys act on: the chosen one, else the oldest that is open. */
export const shown = computed(
  () =>
    pageStreams.value.find(({ number }) => number === chosen.value) ??
    pageStreams.value.findLast(({ closedMs }) => closedMs === undefined) ??
    pageStreams.value[0],
);

export function chooseStream(stream: number): void {
  chosen.value = stream;
}

let lastSeq = 0;
let aheadMs = 0;
let moment = { at: 0, local: 0 };
const known = new Map<number, PageStream>();

/** The number of the last event that arrived. */
export const lastEvent = () => lastSeq;

/** Milliseconds since the emulator started, extrapolated from the last message. */
export function elapsedMs(): number {
  return moment.at + (link.value === 'live' ? systemClock.now() - moment.local : 0);
}

/** Changes what the page knows, by one message of the feed. */
export function applyMessage(message: PageMessage): void {
  batch(() => changeSignals(message));
}

function changeSignals(message: PageMessage): void {
  switch (message.type) {
    case 'hello':
      hello.value = message;
      aheadMs = message.aheadMs;
      link.value = 'live';
      break;
    case 'events':
      addEntries(message.entries as Entry[]);
      break;
    case 'counters':
      counters.value = message.counters;
      break;
    case 'audio':
      tick(message.at);
      for (const heard of message.streams)
        hearPageStream(pageStreamOf(heard.stream, heard.openedAt), heard, message.at);
      showPageStreams();
      break;
    case 'state':
      tick(message.at);
      emulatorState.value = message.state;
      recordings.value = message.recordings;
      for (const { stream, device, durationMs } of message.state.streams)
        pageStreamOf(stream, message.at - durationMs).device ??= device ?? undefined;
      endMissing(message.state, message.at);
      showRows();
      showPageStreams();
  }
  if (message.type === 'audio' || message.type === 'state') redrawCount.value += 1;
}

/** In a flood of events the list is updated only this often. */
const listEveryMs = 250;
const fewRows = 20;
const waiting: NewRow[] = [];
let listedAt = Number.NEGATIVE_INFINITY;

function addEntries(entries: readonly Entry[]): void {
  const rows: NewRow[] = [];
  for (const { seq, ...event } of entries) {
    if (seq <= lastSeq) continue;
    if (lastSeq > 0 && seq > lastSeq + 1) rows.push(lost(seq - lastSeq - 1, event.t));
    lastSeq = seq;
    aheadMs += movedBy(event) ?? 0;
    const row = rowOfEvent(event);
    rows.push(row);
    if (event.type === 'stopping') link.value = 'stopped';
    if ('stream' in event && event.stream !== undefined) {
      const at = event.t - aheadMs;
      addEventToPageStream(pageStreamOf(event.stream, at), event as never, at, row);
    }
  }
  if (rows.length === 0) return;
  waiting.push(...rows);
  if (waiting.length <= fewRows || systemClock.now() - listedAt >= listEveryMs) showRows();
  showPageStreams();
}

function showRows(): void {
  if (waiting.length === 0) return;
  listedAt = systemClock.now();
  list.value = addRows(list.peek(), waiting.splice(0));
}

function movedBy(event: EmulatorEvent): number | undefined {
  return event.type === 'control' ? event.byMs : undefined;
}

/** The row in place of missing events: the tab was asleep or too slow. */
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

function pageStreamOf(stream: number, openedAt: number): PageStream {
  const found = known.get(stream) ?? createPageStream(stream, openedAt);
  known.set(stream, found);
  return found;
}

/** Ends streams whose close was missed. */
function endMissing({ streams }: EmulatorState, at: number): void {
  const open = new Set(streams.map(({ stream }) => stream));
  for (const stream of known.values())
    if (!open.has(stream.number) && stream.closedMs === undefined)
      endPageStream(stream, Math.max(0, at - stream.openedAt));
}

function showPageStreams(): void {
  const all = [...known.values()].sort((a, b) => b.number - a.number);
  const ended = all.filter(({ closedMs }) => closedMs !== undefined);
  for (const { number } of ended.slice(maxEnded)) known.delete(number);
  const next = [...all.filter(({ closedMs }) => closedMs === undefined), ...ended.slice(0, maxEnded)];
  const isSame =
    next.length === pageStreams.peek().length &&
    next.every((one, index) => one === pageStreams.peek()[index]);
  if (!isSame) pageStreams.value = next;
}
