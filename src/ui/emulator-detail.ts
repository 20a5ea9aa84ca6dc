import { escapeText, jsonText } from '../kernel/escape.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import type { EmulatorState } from '../protocol/control.ts';
import { countText, timeText } from '../report/event-words.ts';
import type { DetailSubject } from './browser.ts';
import { durationText } from './components/Head.tsx';
import { levelText } from './components/LevelMeter.tsx';
import type { Row } from './event-list.ts';
import { glyphsFor } from './glyphs.ts';
import type { ServeModel } from './serve-model.ts';

type StreamState = EmulatorState['streams'][number];

/** Everything about a stream or a device, for a panel; undefined once it is gone. */
export function detailOf(
  model: ServeModel,
  subject: DetailSubject,
): { title: string; lines: string[] } | undefined {
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
      ? ['none that is valid']
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
  return `${countText(frames, 'message')}, ${countText(bytes, 'byte')}, ${(msForBytes(bytes) / 1000).toFixed(2)} s, now ${levelText(dbfs)}`;
}

/** Newest last, as in the journal. */
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
