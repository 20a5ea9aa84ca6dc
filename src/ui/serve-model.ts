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

/** The emulator as a whole, looked at a few times a second. */
export interface StateSeen {
  type: 'state-seen';
  state: EmulatorState;
}

/** Where the emulator is reached, and a command that shows it. */
export interface Addresses {
  type: 'addresses';
  tokenUrl: string;
  streamUrl: string;
  curl: string;
}

/** What was looked up, beside what happens. */
export type Looked = StateSeen | Addresses;

export type ServeNews = EmulatorEvent | Looked | Notice;

/** All that the screen of the emulator shows. */
export interface ServeModel extends Browser {
  addresses: Addresses | undefined;
  counters: ServeCounters;
  state: EmulatorState | undefined;
  /** Levels of each stream: what the device says, and what it hears. */
  meters: Readonly<Record<number, { in: Meter; out: Meter }>>;
  /** The most devices and sessions that there were at once: the panels do not shrink. */
  most: ServeContent;
  isStopping: boolean;
  /** Where the arrows go. */
  panel: 'events' | 'sessions';
  /** The session that is marked, by its number; the first where that is none that is open. */
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

/** What has happened, and the moment to show it at. */
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

/** How far `+` moves the clock: past the life of a token and the window of the limit. */
const advanceMs = 61_000;

/** Does what a key means. `page`: how many lines the list shows. */
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

/** Those that are active, to be ended, and the catalogue, to be added from. */
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

/** A fault of the catalogue can be given parameters before it is added. */
function choose(model: ServeModel, { value, clears }: ChoiceItem): Pressed<ServeModel> {
  if (clears !== undefined) return { model, actions: [{ type: 'clearFault', id: clears }] };
  return only({ ...model, overlay: { type: 'prompt', purpose: 'fault', text: value } });
}

function only(model: ServeModel): Pressed<ServeModel> {
  return { model, actions: [] };
}
