import { escapeText } from '../kernel/escape.ts';
import type { EmulatorState } from '../protocol/control.ts';
import { say } from '../report/event-words.ts';
import { countEvent, noCounters, type ServeCounters } from '../report/serve-counters.ts';
import type { EmulatorEvent } from '../service/events.ts';
import { appendRows, type Browser, createBrowser, withNotice } from './browser.ts';
import { createList, type NewRow, rowOfEvent } from './event-list.ts';
import type { ServeContent } from './layout.ts';
import { type Meter, raiseMeter, restingMeter } from './meter.ts';
import type { Notice, ScreenStart } from './port.ts';

/** The state of the emulator, read a few times per second. */
export interface StateSeen {
  type: 'state-seen';
  state: EmulatorState;
}

/** The addresses of the emulator, and a command to try. */
export interface ServeAddresses {
  type: 'addresses';
  tokenUrl: string;
  streamUrl: string;
  /** The address of the page for browsers, if there is one. */
  page?: string | undefined;
  curl: string;
}

/** What was counted so far, drawn or not: the screen itself misses what is dropped in a flood. */
export interface Counted {
  type: 'counted';
  counters: ServeCounters;
}

/** What the screen knows besides the events of the emulator. */
export type ServeStatus = StateSeen | ServeAddresses | Counted;

export type ServeNews = EmulatorEvent | ServeStatus | Notice;

export type Panel = 'events' | 'streams' | 'devices';

/** The state of the screen of the emulator. */
export interface ServeModel extends Browser {
  addresses: ServeAddresses | undefined;
  counters: ServeCounters;
  state: EmulatorState | undefined;
  /** The levels of device and AI in each stream. */
  meters: Readonly<Record<number, { in: Meter; out: Meter }>>;
  /** The highest number of devices and streams so far: the panels do not shrink. */
  most: ServeContent;
  isStopping: boolean;
  /** The panel that the arrow keys move in. */
  panel: Panel;
  /** The number of the marked stream; if it is not open, the first one is marked. */
  stream: number | undefined;
  /** The name of the marked device; if there is none with that name, the first one is marked. */
  device: string | undefined;
}

export function createServeModel(start: ScreenStart): ServeModel {
  return {
    ...createBrowser(start),
    list: createList('service'),
    addresses: undefined,
    counters: noCounters,
    state: undefined,
    meters: {},
    most: { devices: 0, streams: 0 },
    isStopping: false,
    panel: 'events',
    stream: undefined,
    device: undefined,
  };
}

export function reduceServe(model: ServeModel, events: readonly ServeNews[]): ServeModel {
  const rows: NewRow[] = [];
  let next = model;
  for (const event of events) {
    if (event.type === 'notice') {
      next = withNotice(next, event.text);
      if (event.stays) rows.push(noticeRow(event, model.now));
    } else if (event.type === 'state-seen') next = look(next, event.state);
    else if (event.type === 'counted') next = { ...next, counters: event.counters };
    else if (event.type === 'addresses')
      next = { ...next, addresses: event, most: { ...next.most, hasPage: event.page !== undefined } };
    else {
      rows.push(rowOfEvent(event));
      next = countIn(next, event);
    }
  }
  return appendRows(next, rows);
}

function countIn(model: ServeModel, event: EmulatorEvent): ServeModel {
  const counted = { ...model, counters: countEvent(model.counters, event) };
  return event.type === 'stopping' ? { ...counted, isStopping: true } : counted;
}

function noticeRow({ text }: Notice, t: number): NewRow {
  return { t, level: 'info', ...say('self', 'note', escapeText(text)), event: { type: 'note', text } };
}

function look(model: ServeModel, state: EmulatorState): ServeModel {
  const meters = state.streams.map(({ stream, levels: { inDbfs, outDbfs } }) => {
    const before = model.meters[stream] ?? { in: restingMeter, out: restingMeter };
    const raise = (meter: Meter, dbfs: number) =>
      raiseMeter(meter, model.now, { rmsDbfs: dbfs, peakDbfs: dbfs });
    return [stream, { in: raise(before.in, inDbfs), out: raise(before.out, outDbfs) }] as const;
  });
  const most = {
    ...model.most,
    devices: Math.max(model.most.devices, state.devices.length),
    streams: Math.max(model.most.streams, state.streams.length),
  };
  return { ...model, state, most, meters: Object.fromEntries(meters) };
}

/** The stream that keys act on. */
export function markedStream({ state, stream }: ServeModel): EmulatorState['streams'][number] | undefined {
  return state?.streams.find((one) => one.stream === stream) ?? state?.streams[0];
}

/** The devices, the busiest first, because these reach their limits. */
export function devicesInOrder({ state }: ServeModel): EmulatorState['devices'] {
  return (state?.devices ?? []).toSorted((a, b) => b.connections - a.connections || b.requests - a.requests);
}

/** The marked device: found by its name, because the order changes. */
export function markedDevice(model: ServeModel): EmulatorState['devices'][number] | undefined {
  const devices = devicesInOrder(model);
  return devices.find(({ device }) => device === model.device) ?? devices[0];
}
