import { expect, test } from 'vitest';
import type { Io } from '../../src/kernel/io.ts';
import { chooseOutput, type OutputName } from '../../src/report/output-form.ts';

const terminal = {} as NonNullable<Io['terminal']>;
const onTerminal = (env: Io['env'] = {}) => ({ terminal, env });
const elsewhere = { terminal: undefined, env: {} };

test.each<[what: string, OutputName | undefined, Pick<Io, 'env' | 'terminal'>, isFree: boolean, OutputName]>([
  ['a terminal has a screen', undefined, onTerminal(), true, 'tui'],
  ['a terminal has the lines that were asked for', 'plain', onTerminal(), true, 'plain'],
  ['a terminal has the JSON that was asked for', 'json', onTerminal(), true, 'json'],
  ['CI has lines in place of a screen', undefined, onTerminal({ CI: '1' }), true, 'plain'],
  ['CI has the screen that was asked for', 'tui', onTerminal({ CI: '1' }), true, 'tui'],
  ['a dumb terminal has lines', undefined, onTerminal({ TERM: 'dumb' }), true, 'plain'],
  [
    'a dumb terminal has lines even if a screen was requested',
    'tui',
    onTerminal({ TERM: 'dumb' }),
    true,
    'plain',
  ],
  ['output that carries audio has no screen', 'tui', onTerminal(), false, 'plain'],
  ['a pipe has lines', undefined, elsewhere, true, 'plain'],
])('%s', (_what, asked, io, isFree, expected) => {
  expect(chooseOutput(asked, io, isFree)).toBe(expected);
});
