import { escapeText } from '../kernel/escape.ts';
import type { EmulatorState } from '../protocol/control.ts';
import { timesText } from '../protocol/count-text.ts';
import type { describeCatalogue } from '../protocol/fault-schema.ts';
import { type FaultName, faultPoints } from '../protocol/faults.ts';

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
