import { escapeText } from '../kernel/escape.ts';
import type { EmulatorState } from '../protocol/control.ts';
import type { describeCatalogue } from '../protocol/describe-faults.ts';
import { faultPoints } from '../protocol/faults.ts';

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

/** An active fault as a line. */
export function faultLine({ id, name, struck, ...chosen }: EmulatorState['faults'][number]): string {
  const parameters = Object.entries(chosen).map(([key, value]) => `${key}=${value}`);
  return `${id}  ${escapeText(name)}  ${escapeText(parameters.join(' '))}  struck ${struck === 1 ? 'once' : `${struck} times`}`;
}
