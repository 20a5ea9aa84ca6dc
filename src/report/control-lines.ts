import { escapeText } from '../kernel/escape.ts';
import type { EmulatorState } from '../protocol/control.ts';
import { countText } from '../protocol/count-text.ts';
import { secondsText } from '../protocol/time-text.ts';
import { faultLine } from './fault-lines.ts';
import { columnLines } from './table-lines.ts';

/** The state of an emulator as lines. */
export function stateLines({ version, clock, devices, streams, tokens, faults }: EmulatorState): string[] {
  return [
    `voicectl ${escapeText(version)}, ${escapeText(clock.now)}${clock.aheadMs === 0 ? '' : `, ${clock.aheadMs / 1000} s ahead`}`,
    ...section('device', devices, ({ device, connections, maxConnections, requests, limit, resetAt }) => [
      escapeText(device),
      `${connections}/${maxConnections} connections`,
      `${requests}/${limit} requests`,
      resetAt === null ? '' : `resets ${escapeText(resetAt)}`,
    ]),
    ...section('stream', streams, ({ stream, device, durationMs, framesIn, framesOut, remarks }) => [
      String(stream),
      escapeText(device ?? '(no token yet)'),
      secondsText(durationMs, 1),
      `from device ${countText(framesIn, 'frame')}`,
      `from service ${countText(framesOut, 'frame')}`,
      escapeText(remarks.join('; ')),
    ]),
    ...section('token', tokens, ({ jti, device, expiresAt, used }) => [
      escapeText(jti),
      escapeText(device),
      `expires ${escapeText(expiresAt)}`,
      used ? 'used' : 'not used',
    ]),
    ...(faults.length === 0 ? [] : ['', 'faults', ...faults.map((fault) => `  ${faultLine(fault)}`)]),
  ];
}

function section<Item>(name: string, items: readonly Item[], cells: (item: Item) => string[]): string[] {
  if (items.length === 0) return ['', `no ${name}s`];
  return ['', `${name}s`, ...columnLines(items.map(cells)).map((line) => `  ${line}`)];
}

/** Which streams an operation reached. */
export function reachedLine(streams: readonly number[]): string {
  if (streams.length === 0) return 'No stream was reached';
  return `Reached ${streams.length === 1 ? 'stream' : 'streams'} ${streams.join(', ')}`;
}
