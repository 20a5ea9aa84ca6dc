import { escapeText, jsonText } from '../kernel/escape.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import type { EmulatorState } from '../protocol/control.ts';
import { countText, timesText } from '../protocol/count-text.ts';
import { secondsText } from '../protocol/time-text.ts';
import { timeText } from '../report/event-words.ts';
import {
  type ChoiceItem,
  clampIndex,
  type DetailSubject,
  type Pressed,
  pressKey,
  scrollOf,
  withNotice,
  withoutActions,
} from './browser.ts';
import { durationText } from './components/Head.tsx';
import { levelText } from './components/LevelMeter.tsx';
import type { Row } from './event-list.ts';
import { glyphsFor } from './glyphs.ts';
import { closeQuestion, commandOf, type KeyCommand } from './keys.ts';
import type { Key } from './read-keys.ts';
import { devicesInOrder, markedDevice, markedStream, type Panel, type ServeModel } from './serve-model.ts';

/** How far `+` moves the clock: past the lifetime of a token and the window of the limit. */
const advanceMs = 61_000;

/** The lines of the list and of the device panel. */
interface Room {
  listLines: number;
  deviceLines: number;
}

/** Handles a key. */
export function pressServeKey(model: ServeModel, key: Key, room: Room): Pressed<ServeModel> {
  const inPanel = model.overlay === undefined ? pressInPanel(model, key, room) : undefined;
  if (inPanel !== undefined) return withoutActions(inPanel);
  const pressed = pressKey(model, key, room.listLines);
  const { model: next, command, typed, chosen } = pressed;
  if (chosen !== undefined) return choose(next, chosen);
  const marked = markedStream(next);
  if (typed?.purpose === 'fault') return { model: next, actions: [{ type: 'fault', text: typed.text }] };
  if (typed?.purpose === 'send' && typed.stream !== undefined) return send(next, typed.stream, typed.text);
  switch (command) {
    case 'nextPanel':
      return withoutActions({ ...next, panel: panelAfter(next, room) });
    case 'advance':
      return { model: next, actions: [{ type: 'advance', ms: advanceMs }] };
    case 'faults': {
      const items = faultItems(next);
      return withoutActions({
        ...next,
        overlay: { type: 'choice', title: 'faults', items, filter: '', at: 0 },
      });
    }
    case 'close':
      return withoutActions(askToClose(next));
    case 'send':
      return withoutActions(
        marked === undefined
          ? withNotice(next, 'No stream is open')
          : { ...next, overlay: { type: 'prompt', purpose: 'send', text: '', stream: marked.stream } },
      );
    default:
      return { model: next, actions: pressed.actions };
  }
}

/** Updates what depends on the state: the keys that do nothing, and an open panel about a stream or a device. */
export function settleServe(model: ServeModel): Pressed<ServeModel> {
  const { overlay, state, panel } = model;
  const idle: KeyCommand[] = [
    ...(state?.streams.length ? [] : (['close', 'send'] as const)),
    ...(state?.streams.length || state?.devices.length ? [] : (['nextPanel'] as const)),
    ...(panel === 'events' ? [] : (['filter', 'pause', 'follow'] as const)),
    ...(panel === 'streams' && !state?.streams.length ? (['open'] as const) : []),
    ...(panel === 'devices' && !state?.devices.length ? (['open'] as const) : []),
  ];
  const settled = idle.join() === model.idle.join() ? model : { ...model, idle };
  if (overlay?.type !== 'detail' || overlay.subject === undefined) return withoutActions(settled);
  const detail = detailOf(settled, overlay.subject);
  // The panel of something that has ended stays as it was.
  if (detail === undefined || detail.lines.join() === overlay.lines.join()) return withoutActions(settled);
  return withoutActions({ ...settled, overlay: { ...overlay, ...detail } });
}

/** Moves in the panels of streams and devices, and opens what is marked there; undefined for other keys. */
function pressInPanel(model: ServeModel, key: Key, { deviceLines }: Room): ServeModel | undefined {
  const { panel, start } = model;
  if (panel === 'events') return undefined;
  const command = commandOf(key, start);
  if (command === 'open') {
    const [stream, device] = [markedStream(model)?.stream, markedDevice(model)?.device];
    if (panel === 'streams') return stream === undefined ? model : open(model, { stream });
    return device === undefined ? model : open(model, { device });
  }
  if (command === 'back') return { ...model, panel: 'events' };
  const by = command === 'follow' ? Number.MAX_SAFE_INTEGER : command && scrollOf(command, deviceLines);
  if (by === undefined) return undefined;
  if (panel === 'streams') {
    const streams = model.state?.streams.map(({ stream }) => stream) ?? [];
    return { ...model, stream: step(streams, markedStream(model)?.stream, by) };
  }
  const devices = devicesInOrder(model).map(({ device }) => device);
  return { ...model, device: step(devices, markedDevice(model)?.device, by) };
}

function step<Item>(items: readonly Item[], marked: Item | undefined, by: number): Item | undefined {
  const at = marked === undefined ? -1 : items.indexOf(marked);
  return items[clampIndex(at + by, items.length - 1)];
}

function open(model: ServeModel, subject: DetailSubject): ServeModel {
  const detail = detailOf(model, subject);
  return detail === undefined ? model : { ...model, overlay: { type: 'detail', ...detail, top: 0, subject } };
}

/** The next panel that is not empty and has room on the screen. */
function panelAfter({ panel, state }: ServeModel, { deviceLines }: Room): Panel {
  const panels: Panel[] = [
    'events',
    ...(state?.streams.length ? (['streams'] as const) : []),
    ...(state?.devices.length && deviceLines > 0 ? (['devices'] as const) : []),
  ];
  return panels[(panels.indexOf(panel) + 1) % panels.length] ?? 'events';
}

function send(model: ServeModel, stream: number, text: string): Pressed<ServeModel> {
  const isOpen = model.state?.streams.some((one) => one.stream === stream);
  return isOpen
    ? { model, actions: [{ type: 'send', stream, text }] }
    : withoutActions(withNotice(model, `Stream ${stream} has ended`));
}

function askToClose(model: ServeModel): ServeModel {
  const marked = markedStream(model);
  if (marked === undefined) return withNotice(model, 'No stream is open');
  const { stream, device } = marked;
  const question = closeQuestion(stream, device ?? undefined);
  return { ...model, overlay: { type: 'confirm', question, action: { type: 'close', stream } } };
}

/** The active faults, which can be ended, and the catalogue, from which one can be added. */
function faultItems({ state, start }: ServeModel): ChoiceItem[] {
  const active = (state?.faults ?? []).map(({ id, name, struck }) => ({
    value: `end ${name}`,
    help: `active as number ${id}, struck ${timesText(struck)}`,
    clears: id,
  }));
  return [
    ...active,
    ...(start.emulator?.faults ?? []).map(({ name, summary }) => ({ value: name, help: summary })),
  ];
}

/** Before adding a fault, the user can type its parameters. */
function choose(model: ServeModel, { value, clears }: ChoiceItem): Pressed<ServeModel> {
  if (clears !== undefined) return { model, actions: [{ type: 'clearFault', id: clears }] };
  return withoutActions({ ...model, overlay: { type: 'prompt', purpose: 'fault', text: value } });
}

type StreamState = EmulatorState['streams'][number];

/** Everything about a stream or a device, for a panel; undefined once it is gone. */
function detailOf(model: ServeModel, subject: DetailSubject): { title: string; lines: string[] } | undefined {
  if ('device' in subject) return deviceDetail(model, subject.device);
  const state = model.state?.streams.find(({ stream }) => stream === subject.stream);
  return state === undefined ? undefined : streamDetail(model, state);
}

function streamDetail(model: ServeModel, state: StreamState): { title: string; lines: string[] } {
  const { stream, device, remote, jti, claims, remarks, durationMs, levels } = state;
  const token = model.state?.tokens.find((one) => one.jti === jti);
  const name = device === null ? 'no token yet' : escapeText(device);
  const lines = [
    field('device', `${name}, from ${escapeText(remote)}, open for ${durationText(durationMs)}`),
    ...Object.entries(claims ?? {}).map(([claim, value], index) =>
      field(index === 0 ? 'claims' : '', `${escapeText(claim).padEnd(6)} ${claimText(claim, value)}`),
    ),
    ...(claims === null
      ? []
      : [field('', token === undefined ? 'the token has expired' : 'the token is still valid')]),
    ...(remarks.length === 0 ? ['ok'] : remarks.map(escapeText)).map((text, index) =>
      field(index === 0 ? 'verdict' : '', text),
    ),
    field('pace', paceText(state)),
    field('from device', audioText(state.framesIn, state.bytesIn, levels.inDbfs)),
    field('from service', audioText(state.framesOut, state.bytesOut, levels.outDbfs)),
    '',
    ...eventLines(model, (row) => row.stream === stream),
  ];
  return { title: `stream ${stream}`, lines };
}

function deviceDetail(model: ServeModel, name: string): { title: string; lines: string[] } | undefined {
  const device = model.state?.devices.find((one) => one.device === name);
  if (device === undefined) return undefined;
  const { connections, maxConnections, requests, limit, resetAt } = device;
  const tokens = model.state?.tokens.filter((one) => one.device === name) ?? [];
  const streams = model.state?.streams.filter((one) => one.device === name) ?? [];
  const lines = [
    field('open', `${connections} of ${maxConnections} connections`),
    field('requests', `${requests} of ${limit} in the window${resetAt === null ? '' : `, until ${resetAt}`}`),
    ...(streams.length === 0
      ? ['none']
      : streams.map(({ stream, remarks }) => `${stream}: ${escapeText(remarks[0] ?? 'ok')}`)
    ).map((text, index) => field(index === 0 ? 'streams' : '', text)),
    ...(tokens.length === 0
      ? ['none valid']
      : tokens.map(
          ({ jti, expiresAt, used }) =>
            `${escapeText(jti)} until ${expiresAt}, ${used ? 'used' : 'not used yet'}`,
        )
    ).map((text, index) => field(index === 0 ? 'tokens' : '', text)),
    '',
    ...eventLines(model, (row) => row.device === name),
  ];
  return { title: `device ${escapeText(name)}`, lines };
}

function field(name: string, text: string): string {
  return `${name.padEnd(12)} ${text}`;
}

const timeClaims = ['iat', 'nbf', 'exp'];

function claimText(name: string, value: unknown): string {
  if (!timeClaims.includes(name) || typeof value !== 'number') return jsonText(value);
  const at = new Date(value * 1000);
  return Number.isNaN(at.getTime()) ? String(value) : `${value} (${at.toISOString()})`;
}

function paceText({ pace }: StreamState): string {
  const { timesRealTime, meanJitterMs, longestGapMs, burstMessages } = pace;
  const times = timesRealTime === null ? 'not known yet' : `${timesRealTime} × real time`;
  return `${times}, jitter ${meanJitterMs} ms, longest gap ${longestGapMs} ms, ${burstMessages} messages in bursts`;
}

function audioText(frames: number, bytes: number, dbfs: number): string {
  return `${countText(frames, 'message')}, ${countText(bytes, 'byte')}, ${secondsText(msForBytes(bytes))}, now ${levelText(dbfs)}`;
}

/** The events, newest last, like in the journal. */
function eventLines({ list, start }: ServeModel, is: (row: Row) => boolean): string[] {
  const glyphs = glyphsFor(start.ascii);
  const rows = list.rows.filter(is);
  return [
    field('events', String(rows.length)),
    ...rows.map(
      ({ t, from, level, subject, text }) =>
        `${timeText(t)} ${glyphs[from]} ${level === 'info' ? ' ' : '!'} ${subject} ${text}`,
    ),
  ];
}
