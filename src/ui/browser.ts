import { escapeText, jsonLine, jsonLines } from '../kernel/escape.ts';
import {
  addRows,
  createList,
  type EventList,
  markedRow,
  moveMark,
  type NewRow,
  savedEvents,
  toggleHold,
} from './event-list.ts';
import { legendFor } from './glyphs.ts';
import { bindingsFor, commandOf, type KeyCommand } from './keys.ts';
import type { Action, FrameRequest, ScreenStart } from './port.ts';
import type { Key } from './read-keys.ts';

/** A panel over the list, or a prompt. */
export type Overlay =
  | { type: 'help'; top: number }
  /** `subject`: what its lines describe, if they change while it is open. */
  | { type: 'detail'; title: string; lines: readonly string[]; top: number; subject?: DetailSubject }
  /** `at`: the index among the items that pass the filter. */
  | { type: 'choice'; title: string; items: readonly ChoiceItem[]; filter: string; at: number }
  /** `stream`: whose prompt it is, even if the mark moves meanwhile. */
  | { type: 'prompt'; purpose: PromptPurpose; text: string; stream?: number }
  /** Asks before an action. */
  | { type: 'confirm'; question: string; action: Action };

export type DetailSubject = { stream: number } | { device: string };

export type PromptPurpose = 'filter' | 'send' | 'fault';

/** One choice of several; `clears` is set if it ends something. */
export interface ChoiceItem {
  value: string;
  help: string;
  clears?: number;
}

/** The state that all screens share: the moment, the list of events, and the panel over it. */
export interface Browser {
  start: ScreenStart;
  /** The moment that is drawn: on the time axis of the events, and since the epoch. */
  now: number;
  wall: number;
  list: EventList;
  overlay: Overlay | undefined;
  notice: { text: string; until: number } | undefined;
  /** Commands that have nothing to act on now: their keys are not offered. */
  idle: readonly KeyCommand[];
}

/** The state of a screen of something that ends by itself or when the user quits. */
export interface Watched extends Browser {
  /** How it ended, and when. */
  ended: { ok: boolean; text: string; at: number } | undefined;
  /** The user has quit and waits for the end. */
  isEnding: boolean;
}

export const stillRunning = { ended: undefined, isEnding: false } as const;

export const noticeMs = 4_000;

export function createBrowser(start: ScreenStart): Browser {
  return {
    start,
    now: 0,
    wall: 0,
    list: createList('device'),
    overlay: undefined,
    notice: undefined,
    idle: [],
  };
}

export function moveTo<Model extends Browser>(
  model: Model,
  { now, wall }: Pick<FrameRequest, 'now' | 'wall'>,
): Model {
  const notice = model.notice !== undefined && model.notice.until > wall ? model.notice : undefined;
  return { ...model, now, wall, notice };
}

export function withNotice<Model extends Browser>(model: Model, text: string): Model {
  return { ...model, notice: { text: escapeText(text), until: model.wall + noticeMs } };
}

export function appendRows<Model extends Browser>(model: Model, rows: readonly NewRow[]): Model {
  return { ...model, list: addRows(model.list, rows) };
}

/** The effect of a key on the screen, and the action for the program. `command` is set if the screen has to handle it. */
export interface Pressed<Model> {
  model: Model;
  actions: readonly Action[];
  command?: KeyCommand;
  /** What was typed or chosen. */
  typed?: { purpose: PromptPurpose; text: string; stream?: number | undefined };
  chosen?: ChoiceItem;
}

/** Handles a key that works on any screen. `page`: number of lines in the list. */
export function pressKey<Model extends Browser>(model: Model, key: Key, page: number): Pressed<Model> {
  const { overlay } = model;
  if (overlay?.type === 'prompt') return typeKey(model, overlay, key);
  if (overlay?.type === 'choice') return chooseKey(model, overlay, key, page);
  if (overlay?.type === 'confirm') {
    const isYes = key === 'y' || key === 'enter';
    return { model: { ...model, overlay: undefined }, actions: isYes ? [overlay.action] : [] };
  }
  const command = commandOf(key, model.start);
  if (command === undefined) return { model, actions: [] };
  if (overlay !== undefined) {
    const isOver =
      command === 'back' || command === 'open' || (command === 'help' && overlay.type === 'help');
    if (isOver) return withoutActions({ ...model, overlay: undefined });
    const by = scrollOf(command, page);
    if (by !== undefined) return withoutActions({ ...model, overlay: scrolled(model, overlay, by, page) });
    if (command !== 'copyJson' && command !== 'quit') return withoutActions(model);
  }
  return runCommand(model, command, page);
}

/** Handles a key on a screen of something that ends. */
export function pressWatchedKey<Model extends Watched>(
  model: Model,
  key: Key,
  { listLines }: { listLines: number },
): Pressed<Model> {
  const { model: next, actions } = pressKey(model, key, listLines);
  const isEnding = next.isEnding || actions.some(({ type }) => type === 'quit');
  return { model: { ...next, isEnding }, actions };
}

function runCommand<Model extends Browser>(model: Model, command: KeyCommand, page: number): Pressed<Model> {
  const { list } = model;
  const by = scrollOf(command, page);
  if (by !== undefined) return withoutActions({ ...model, list: moveMark(list, by) });
  switch (command) {
    case 'follow':
      return withoutActions({ ...model, list: { ...list, marked: undefined, heldAfter: undefined } });
    case 'pause':
      return withoutActions({ ...model, list: toggleHold(list) });
    case 'filter':
      return withoutActions({ ...model, overlay: { type: 'prompt', purpose: 'filter', text: list.filter } });
    case 'back':
      return withoutActions({ ...model, list: { ...list, filter: '' } });
    case 'help':
      return withoutActions({ ...model, overlay: { type: 'help', top: 0 } });
    case 'open':
      return withoutActions(openRow(model));
    case 'copyJson': {
      const row = markedRow(list);
      if (row === undefined) return withoutActions(model);
      return { model, actions: [{ type: 'copy', text: jsonLine(row.event).trimEnd(), what: 'the event' }] };
    }
    case 'copyCurl':
      return { model, actions: [{ type: 'copyCurl' }] };
    case 'save':
      return {
        model,
        actions: [{ type: 'save', text: savedEvents(list).map(jsonLine).join('') }],
      };
    case 'quit':
      return { model, actions: [{ type: 'quit' }] };
    default:
      return { model, actions: [], command };
  }
}

function openRow<Model extends Browser>(model: Model): Model {
  const row = markedRow(model.list);
  if (row === undefined) return model;
  const full = row.full ?? { title: row.subject, lines: jsonLines(row.event).trimEnd().split('\n') };
  return { ...model, overlay: { type: 'detail', ...full, top: 0 } };
}

/** Adds pasted text to what is being typed. Elsewhere a paste does nothing: it is no series of keys. */
export function pasteText<Model extends Browser>(model: Model, text: string): Model {
  const { overlay } = model;
  if (overlay?.type === 'prompt') return withTyped(model, overlay, overlay.text + text);
  if (overlay?.type === 'choice') return withChoices(model, overlay, overlay.filter + text);
  return model;
}

function withTyped<Model extends Browser>(
  model: Model,
  overlay: Overlay & { type: 'prompt' },
  text: string,
): Model {
  const next = { ...model, overlay: { ...overlay, text } };
  // A filter applies while you type it.
  return overlay.purpose === 'filter' ? { ...next, list: { ...model.list, filter: text.trim() } } : next;
}

function withChoices<Model extends Browser>(
  model: Model,
  overlay: Overlay & { type: 'choice' },
  filter: string,
): Model {
  return { ...model, overlay: { ...overlay, filter, at: 0 } };
}

function typeKey<Model extends Browser>(
  model: Model,
  overlay: Overlay & { type: 'prompt' },
  key: Key,
): Pressed<Model> {
  const { purpose, text, stream } = overlay;
  const withText = (typed: string) => withoutActions(withTyped(model, overlay, typed));
  const closed = { ...model, overlay: undefined };
  if (key === 'escape') {
    return withoutActions(purpose === 'filter' ? { ...closed, list: { ...model.list, filter: '' } } : closed);
  }
  if (key === 'enter') {
    return purpose !== 'filter' && text.trim() !== ''
      ? { model: closed, actions: [], typed: { purpose, text: text.trim(), stream } }
      : withoutActions(closed);
  }
  if (key === 'backspace') return withText([...text].slice(0, -1).join(''));
  if (key === 'space') return withText(`${text} `);
  return [...key].length === 1 ? withText(text + key) : withoutActions(model);
}

/** Letters type a filter, so only named keys move the mark. */
function chooseKey<Model extends Browser>(
  model: Model,
  overlay: Overlay & { type: 'choice' },
  key: Key,
  page: number,
): Pressed<Model> {
  const items = shownItems(overlay);
  const withFilter = (filter: string) => withoutActions(withChoices(model, overlay, filter));
  if (key === 'escape')
    return overlay.filter === '' ? withoutActions({ ...model, overlay: undefined }) : withFilter('');
  if (key === 'enter') {
    const chosen = items[overlay.at];
    return chosen === undefined
      ? withoutActions(model)
      : { model: { ...model, overlay: undefined }, actions: [], chosen };
  }
  if (key === 'backspace') return withFilter([...overlay.filter].slice(0, -1).join(''));
  if (key === 'space') return withFilter(`${overlay.filter} `);
  if ([...key].length === 1) return withFilter(overlay.filter + key);
  const command = commandOf(key, model.start);
  const by = key === 'end' ? farAway : command === undefined ? undefined : scrollOf(command, page);
  if (by === undefined) return withoutActions(model);
  return withoutActions({
    ...model,
    overlay: { ...overlay, at: clampIndex(overlay.at + by, items.length - 1) },
  });
}

/** The items of a choice that contain all words of its filter. */
export function shownItems({ items, filter }: Overlay & { type: 'choice' }): readonly ChoiceItem[] {
  const words = filter.toLowerCase().split(/\s+/);
  return items.filter(({ value, help }) => {
    const text = `${value} ${help}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const farAway = 1_000_000;

/** The number of lines that a command moves; undefined for other commands. */
export function scrollOf(command: KeyCommand, page: number): number | undefined {
  switch (command) {
    case 'up':
      return -1;
    case 'down':
      return 1;
    case 'pageUp':
      return -Math.max(1, page - 1);
    case 'pageDown':
      return Math.max(1, page - 1);
    case 'first':
      return -farAway;
    default:
      return undefined;
  }
}

function scrolled<Shown extends Overlay>(
  { start }: Browser,
  overlay: Shown,
  by: number,
  page: number,
): Overlay {
  switch (overlay.type) {
    case 'prompt':
    case 'choice':
    case 'confirm':
      return overlay;
    case 'help':
      return {
        ...overlay,
        top: clampIndex(overlay.top + by, bindingsFor(start).length + legendFor(start).length - page),
      };
    case 'detail':
      return { ...overlay, top: clampIndex(overlay.top + by, overlay.lines.length - page) };
  }
}

/** `to`, limited to the range from 0 to `last`. */
export function clampIndex(to: number, last: number): number {
  return Math.max(0, Math.min(last, to));
}

export function withoutActions<Model>(model: Model): Pressed<Model> {
  return { model, actions: [] };
}
