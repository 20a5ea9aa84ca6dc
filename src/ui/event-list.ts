import { describeEmulatorEvent } from '../report/emulator-lines.ts';
import type { EventWords } from '../report/event-words.ts';
import { type Repeatable, repeatableOf, seriesPauseMs } from '../report/repeats.ts';
import type { EmulatorEvent } from '../service/events.ts';
import type { Side } from '../wire/exchange.ts';
import { firstShown } from './layout.ts';

/** One line of the event list. */
export interface Row extends EventWords {
  /** The rows are numbered from 0. */
  id: number;
  /** The event, as it is copied and saved. */
  event: unknown;
  /** What is shown in full; default: the event as JSON. */
  full?: { title: string; lines: readonly string[] };
  /** Set for an event that repeats: one row stands for the whole series. */
  repeats?: Repeatable & { since: number; until: number; events?: readonly unknown[] };
}

export type NewRow = Omit<Row, 'id'>;

/** The kept events, and which of them are shown. */
export interface EventList {
  rows: readonly Row[];
  /** The row that changed last, in a list whose rows change. Default: the newest row. */
  latest?: number;
  /** The marked row; undefined: always the latest. */
  marked: number | undefined;
  /** Rows after this one are held back; undefined: none. */
  heldAfter: number | undefined;
  filter: string;
  /** The side of this program, which the older filter `dir:out` means; today's are `from:device` and `from:service`. */
  ownSide: Side;
}

/** Maximum number of rows that are kept; beyond that the oldest are dropped. */
const maxRows = 5_000;

export function createList(ownSide: Side): EventList {
  return { rows: [], marked: undefined, heldAfter: undefined, filter: '', ownSide };
}

/** Adds rows. Drops the oldest in large steps, because dropping one at a time would copy the list each time. */
export function addRows(list: EventList, added: readonly NewRow[]): EventList {
  if (added.length === 0) return list;
  const rows = [...list.rows];
  for (const row of added) {
    const at = row.repeats === undefined ? -1 : seriesOf(rows, row);
    const before = rows[at];
    if (before !== undefined) rows[at] = foldRow(before, row);
    else rows.push({ ...row, id: (rows.at(-1)?.id ?? -1) + 1 });
  }
  return { ...list, rows: rows.length > maxRows + 1_000 ? rows.slice(-maxRows) : rows };
}

/** The series of a row is searched among this many of the newest rows. */
const nearRows = 100;

/** The index of the row whose series this one continues; −1 if it starts one. */
function seriesOf(rows: readonly Row[], { t, repeats }: NewRow): number {
  for (let at = rows.length - 1; at >= Math.max(0, rows.length - nearRows); at -= 1) {
    const open = rows[at]?.repeats;
    if (open?.key === repeats?.key && open !== undefined) return t - open.until < seriesPauseMs ? at : -1;
  }
  return -1;
}

/** Maximum number of events that a series keeps; beyond it the oldest are dropped. */
const maxSeries = 50;

function eventsOf({ event, repeats }: Row): readonly unknown[] {
  return repeats?.events ?? [event];
}

/** The events of all rows as they are saved; those of a series are put in order of time. Rows may share one event. */
export function savedEvents({ rows }: EventList): unknown[] {
  const events = [...new Set(rows.flatMap(eventsOf))];
  // Without a series they are in order; the times of several sessions begin again.
  if (!rows.some(({ repeats }) => repeats?.events !== undefined)) return events;
  const timeOf = (event: unknown) => (event as { t?: number }).t ?? 0;
  return events.sort((a, b) => timeOf(a) - timeOf(b));
}

function foldRow(before: Row, { repeats, ...row }: NewRow): Row {
  const { since = row.t, times = 0 } = before.repeats ?? {};
  if (repeats === undefined) return before;
  const count = times + repeats.times;
  const short = repeats.shortOf(count);
  return {
    ...row,
    id: before.id,
    text: repeats.textOf(count, row.t - since),
    ...(short === undefined ? {} : { short }),
    repeats: {
      ...repeats,
      times: count,
      since,
      until: row.t,
      events: [...eventsOf(before), row.event].slice(-maxSeries),
    },
  };
}

/** An event of an emulator or a proxy as a row. */
export function rowOfEvent(event: EmulatorEvent): NewRow {
  const repeats = repeatableOf(event);
  const { t } = event;
  return {
    ...describeEmulatorEvent(event),
    event,
    ...(repeats === undefined ? {} : { repeats: { ...repeats, since: t, until: t } }),
  };
}

/** The visible rows: those that pass the filter, up to where the list is paused. */
export function shownRows({ rows, heldAfter, filter, ownSide }: EventList): readonly Row[] {
  const held = heldAfter === undefined ? rows : rows.filter(({ id }) => id <= heldAfter);
  return filter === '' ? held : held.filter(passes(filter, ownSide));
}

/** The marked row, or the latest. */
export function markedRow(list: EventList): Row | undefined {
  const rows = shownRows(list);
  return rows.find(({ id }) => id === list.marked) ?? rows[latestIndex(rows, list)];
}

function latestIndex(rows: readonly Row[], { latest }: EventList): number {
  const index = latest === undefined ? -1 : rows.findIndex(({ id }) => id === latest);
  return index < 0 ? rows.length - 1 : index;
}

/** The rows that fit, including the marked one. */
export function rowsInView(list: EventList, height: number): readonly Row[] {
  const rows = shownRows(list);
  const at = list.marked ?? list.latest;
  const index = at === undefined ? -1 : rows.findIndex(({ id }) => id === at);
  const top = firstShown(index < 0 ? rows.length : index, height, rows.length);
  return rows.slice(top, top + height);
}

/** Moves the mark down by this many rows. */
export function moveMark(list: EventList, by: number): EventList {
  const rows = shownRows(list);
  if (rows.length === 0) return list;
  const at = rows.findIndex(({ id }) => id === list.marked);
  const index = Math.min(rows.length - 1, Math.max(0, (at < 0 ? latestIndex(rows, list) : at) + by));
  return { ...list, marked: rows[index]?.id };
}

/** Pauses the list, or continues it. */
export function toggleHold(list: EventList): EventList {
  return { ...list, heldAfter: list.heldAfter === undefined ? (list.rows.at(-1)?.id ?? -1) : undefined };
}

/** Number of rows that are held back while the list is paused. */
export function heldCount({ rows, heldAfter }: EventList): number {
  return heldAfter === undefined ? 0 : (rows.at(-1)?.id ?? -1) - heldAfter;
}

/** `kind:status from:device device:d1 stream:3 words`: all must match; words match anywhere, ignoring case. */
function passes(filter: string, ownSide: Side): (row: Row) => boolean {
  const tests = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word): ((row: Row) => boolean) => {
      const [, field, value = ''] = /^(kind|from|dir|device|stream):(.*)$/.exec(word) ?? [];
      const holds = (text: string | undefined) => text?.toLowerCase().includes(value) ?? false;
      switch (field) {
        case 'kind':
          return ({ subject }) => holds(subject);
        case 'from':
          return ({ from }) => from === value;
        case 'dir': {
          const other = ownSide === 'device' ? 'service' : 'device';
          const side = value === 'out' ? ownSide : value === 'in' ? other : value;
          return ({ from }) => from === side;
        }
        case 'device':
          return ({ device }) => holds(device);
        case 'stream':
          return ({ stream }) => String(stream) === value;
        default:
          return ({ subject, text }) => `${subject} ${text}`.toLowerCase().includes(word);
      }
    });
  return (row) => tests.every((test) => test(row));
}
