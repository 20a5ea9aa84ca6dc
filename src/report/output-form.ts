import type { Io } from '../kernel/io.ts';
import type { OutputStream } from '../kernel/output-stream.ts';

/** The form of all output of a command, errors included. */
export interface OutputForm {
  json: boolean;
  /** Where the lines of the result go: standard output, unless that carries audio. */
  lines: OutputStream;
  /** Whether to print a stack with each error. */
  debug: boolean;
}

/** A screen, lines, or one JSON object per line. */
export type OutputName = 'tui' | 'plain' | 'json';

/**
 * The output of a command that can have a screen: a screen only on a terminal. `isFree`: standard
 * output is not needed for anything else.
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

/** A guess from the arguments alone, for a command line that cannot be read. */
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
