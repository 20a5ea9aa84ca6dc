import { escapeText } from '../kernel/escape.ts';
import type { EmulatorState } from '../protocol/control.ts';
import { countText, timesText } from '../protocol/count-text.ts';
import type { describeCatalogue } from '../protocol/fault-schema.ts';
import { type FaultName, faultPoints } from '../protocol/faults.ts';
import { secondsText } from '../protocol/time-text.ts';
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

type Catalogue = ReturnType<typeof describeCatalogue>;

/** The fault catalogue as lines, grouped by where the faults strike. */
export function catalogueLines(catalogue: Catalogue): string[] {
  const width = Math.max(...catalogue.map(({ name }) => name.length));
  return Object.entries(faultPoints)
    .flatMap(([point, chance]) => [
      `Strike ${chance}:`,
      ...catalogue
        .filter(({ at }) => at === point)
        .flatMap(({ name, summary, parameters }) => [
          `  ${name.padEnd(width)}  ${summary}`,
          ...parameters.map(
            ({ name: key, default: fallback, help }) =>
              `  ${' '.repeat(width)}    ${key}=${fallback}: ${help}`,
          ),
        ]),
      '',
    ])
    .concat([
      'Every fault accepts times=N, skip=N and probability=P.',
      'All faults except connection and upgrade faults accept device=ID. Faults of a live stream accept stream=N.',
      'Write NAME or NAME:key=value,key=value.',
    ]);
}

/** The most used faults, each with an example. */
const usualFaults: readonly (readonly [name: FaultName, example: string])[] = [
  ['rate-limited', 'rate-limited:times=2'],
  ['token-unauthorized', 'token-unauthorized'],
  ['token-slow', 'token-slow:delay=5s'],
  ['token-expired', 'token-expired:times=1'],
  ['upgrade-refused', 'upgrade-refused:status=503,times=1'],
  ['close', 'close:code=1012,after=2s'],
  ['abnormal-close', 'abnormal-close:after=2s'],
  ['half-open', 'half-open:after=5s'],
  ['drop', 'drop:probability=0.05'],
  ['network', 'network:profile=slow-3g'],
];

/** The most used faults as lines, and where to find the others. */
export function usualFaultLines(catalogue: Catalogue): string[] {
  const width = Math.max(...usualFaults.map(([, example]) => example.length));
  return [
    'The most used faults, for `emulator fault add FAULT` and `serve --fault FAULT`:',
    ...usualFaults.map(([name, example]) => {
      const { summary = '' } = catalogue.find((one) => one.name === name) ?? {};
      return `  ${example.padEnd(width)}  ${summary}`;
    }),
    '',
    `${catalogue.length - usualFaults.length} more faults, and the parameters of every fault: voicectl emulator fault list --all`,
  ];
}

/** An active fault as a line. */
export function faultLine({ id, name, struck, ...chosen }: EmulatorState['faults'][number]): string {
  const parameters = Object.entries(chosen).map(([key, value]) => `${key}=${value}`);
  return `${id}  ${escapeText(name)}  ${escapeText(parameters.join(' '))}  struck ${timesText(struck)}`;
}
