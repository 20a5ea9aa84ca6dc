import type { Io } from '../kernel/io.ts';
import type { OutputStream } from '../kernel/output-stream.ts';

/** How a command line wants to be answered, an error included. */
export interface OutputForm {
  json: boolean;
  /** Takes the lines of the result: standard output, unless that carries audio. */
  lines: OutputStream;
  /** A stack with each error. */
  debug: boolean;
}

/** A screen of its own, lines for people, or one JSON object a line. */
export type OutputName = 'tui' | 'plain' | 'json';

/**
 * How a command that can have a screen answers: with one only where a person sits before it. `isFree`: standard
 * output is not wanted for something else.
 */
export function chooseOutput(
  asked: OutputName | undefined,
  { env, terminal }: Pick<Io, 'env' | 'terminal'>,
  isFree: boolean,
): OutputName {
  if (asked === 'json' || asked === 'plain') return asked;
  const canDraw = terminal !== undefined && isFree && env.TERM !== 'dumb';
  if (asked === 'tui') return canDraw ? 'tui' : 'plain';
  return canDraw && !env.CI ? 'tui' : 'plain';
}

/** What can be told without reading the settings: for a command line that cannot be read. */
export function guessOutputForm(argv: readonly string[], io: Io): OutputForm {
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const has = (flag: string, value: string) =>
    own.includes(`${flag}=${value}`) || own.some((word, at) => word === flag && own[at + 1] === value);
  return {
    json: own.includes('--json') || has('--output', 'json'),
    lines: has('--out', '-') ? io.stderr : io.stdout,
    debug: own.includes('--debug'),
  };
}
