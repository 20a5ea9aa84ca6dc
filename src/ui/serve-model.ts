import type { EmulatorEvent } from '../emulator/events.ts';
import { escapeText } from '../kernel/escape.ts';
import type { EmulatorState } from '../protocol/control.ts';
import { countEvent, noCounters, type ServeCounters } from '../report/serve-counters.ts';
import {
  append,
  type Browser,
  type ChoiceItem,
  createBrowser,
  moveTo,
  type Pressed,
  pressKey,
  tell,
} from './browser.ts';
import type { NewRow } from './event-list.ts';
import type { ServeContent } from './layout.ts';
import { type Meter, raiseMeter, restingMeter } from './meter.ts';
import type { FrameRequest, Notice, ScreenStart } from './port.ts';
import type { Key } from './read-keys.ts';
import { serveRow } from './serve-rows.ts';

/** The state of the emulator, read a few times a second. */
export interface StateSeen {
  type: 'state-seen';
  state: EmulatorState;
}

/** The addresses of the emulator, and a command to try. */
export interface Addresses {
  type: 'addresses';
  tokenUrl: string;
  streamUrl: string;
  curl: string;
}

/** The state of the emulator, beside its events. */
export type Looked = StateSeen | Addresses;

export type ServeNews = EmulatorEvent | Looked | Notice;

/** The state of the screen of the emulator. */
export interface ServeModel extends Browser {
  addresses: Addresses | undefined;
  counters: ServeCounters;
  state: EmulatorState | undefined;
  /** Levels of each stream: of the device, and of the AI. */
  meters: Readonly<Record<number, { in: Meter; out: Meter }>>;
  /** The highest number of devices and sessions so far: the panels do not shrink. */
  most: ServeContent;
  isStopping: boolean;
  /** The panel that the arrow keys move in. */
  panel: 'events' | 'sessions';
  /** The number of the marked session; the first one if that is not open. */
  session: number | undefined;
}

export function createServeModel(start: ScreenStart): ServeModel {
  return {
    ...createBrowser(start),
    addresses: undefined,
    counters: noCounters,
    state: undefined,
    meters: {},
    most: { devices: 0, sessions: 0 },
    isStopping: false,
    panel: 'events',
    session: undefined,
  };
}

/** The new events, and the moment to show. */
export function reduceServe(
  model: ServeModel,
  { events, ...moment }: Pick<FrameRequest, 'now' | 'wall'> & { events: readonly ServeNews[] },
): ServeModel {
  const rows: NewRow[] = [];
  let next = moveTo(model, moment);
  for (const event of events) {
    if (event.type === 'notice') {
      next = tell(next, event.text);
      if (event.stays) rows.push(noticeRow(event, moment.now));
    } else if (event.type === 'state-seen') next = look(next, event.state);
    else if (event.type === 'addresses') next = { ...next, addresses: event };
    else {
      rows.push(serveRow(event));
      next = note(next, event);
    }
  }
  return append(next, rows);
}

function note(model: ServeModel, event: EmulatorEvent): ServeModel {
  const counted = { ...model, counters: countEvent(model.counters, event) };
  return event.type === 'stopping' ? { ...counted, isStopping: true } : counted;
}

function noticeRow({ text }: Notice, t: number): NewRow {
  return { t, direction: 'self', kind: 'note', text: escapeText(text), event: { type: 'note', text } };
}

function look(model: ServeModel, state: EmulatorState): ServeModel {
  const meters = state.streams.map(({ stream, levels: { inDbfs, outDbfs } }) => {
    const before = model.meters[stream] ?? { in: restingMeter, out: restingMeter };
    const raise = (meter: Meter, dbfs: number) =>
      raiseMeter(meter, model.now, { rmsDbfs: dbfs, peakDbfs: dbfs });
    return [stream, { in: raise(before.in, inDbfs), out: raise(before.out, outDbfs) }] as const;
  });
  const most = {
    devices: Math.max(model.most.devices, state.devices.length),
    sessions: Math.max(model.most.sessions, state.streams.length),
  };
  return { ...model, state, most, meters: Object.fromEntries(meters) };
}

/** The session that keys act on. */
export function markedSession({ state, session }: ServeModel): EmulatorState['streams'][number] | undefined {
  return state?.streams.find(({ stream }) => stream === session) ?? state?.streams[0];
}

/** How far `+` moves the clock: past the lifetime of a token and the window of the limit. */
const advanceMs = 61_000;

/** Handles a key. `page`: number of lines of the list. */
export function pressServeKey(model: ServeModel, key: Key, page: number): Pressed<ServeModel> {
  const move = model.overlay === undefined && model.panel === 'sessions' ? sessionStep(key) : undefined;
  if (move !== undefined) return { model: moveSession(model, move), actions: [] };
  const pressed = pressKey(model, key, page);
  const { model: next, command, typed, chosen } = pressed;
  if (chosen !== undefined) return choose(next, chosen);
  const marked = markedSession(next);
  if (typed?.purpose === 'fault') return { model: next, actions: [{ type: 'fault', text: typed.text }] };
  if (typed?.purpose === 'send' && marked !== undefined) {
    return { model: next, actions: [{ type: 'send', stream: marked.stream, text: typed.text }] };
  }
  switch (command) {
    case 'nextPanel':
      return only({ ...next, panel: next.panel === 'events' ? 'sessions' : 'events' });
    case 'advance':
      return { model: next, actions: [{ type: 'advance', ms: advanceMs }] };
    case 'faults':
      return only({ ...next, overlay: { type: 'choice', title: 'faults', items: faultItems(next), at: 0 } });
    case 'close':
      return marked === undefined
        ? only(tell(next, 'There is no session to close'))
        : { model: next, actions: [{ type: 'close', stream: marked.stream }] };
    case 'send':
      return only(
        marked === undefined
          ? tell(next, 'There is no session to send to')
          : { ...next, overlay: { type: 'prompt', purpose: 'send', text: '' } },
      );
    default:
      return { model: next, actions: pressed.actions };
  }
}

function sessionStep(key: Key): number | undefined {
  if (key === 'up' || key === 'k') return -1;
  return key === 'down' || key === 'j' ? 1 : undefined;
}

function moveSession(model: ServeModel, by: number): ServeModel {
  const streams = model.state?.streams ?? [];
  const at = streams.findIndex(({ stream }) => stream === markedSession(model)?.stream);
  return { ...model, session: streams[Math.min(streams.length - 1, Math.max(0, at + by))]?.stream };
}

/** The active faults, to end them, and the catalogue, to add one. */
function faultItems({ state, start }: ServeModel): ChoiceItem[] {
  const active = (state?.faults ?? []).map(({ id, name, struck }) => ({
    value: `end ${name}`,
    help: `active as number ${id}, has struck ${struck} times`,
    clears: id,
  }));
  return [
    ...active,
    ...(start.emulator?.faults ?? []).map(({ name, summary }) => ({ value: name, help: summary })),
  ];
}

/** The user can give a fault parameters before adding it. */
function choose(model: ServeModel, { value, clears }: ChoiceItem): Pressed<ServeModel> {
  if (clears !== undefined) return { model, actions: [{ type: 'clearFault', id: clears }] };
  return only({ ...model, overlay: { type: 'prompt', purpose: 'fault', text: value } });
}

function only(model: ServeModel): Pressed<ServeModel> {
  return { model, actions: [] };
}
