import type { Verdict } from '../rules/rule.ts';
import type { Glyphs } from './glyphs.ts';
import { type Colour, colours } from './theme.ts';

/** The sign of a verdict, and its colour if it has one. */
export function verdictMark(
  verdict: Verdict | undefined,
  { passed, failed, done, dash, dot }: Glyphs,
): { sign: string; colour?: Colour } {
  switch (verdict) {
    case 'pass':
      return { sign: passed, colour: colours.good };
    case 'fail':
      return { sign: failed, colour: colours.bad };
    case 'warn':
      return { sign: '!', colour: colours.warning };
    case 'observed':
      return { sign: done };
    case 'unknown':
      return { sign: '?', colour: colours.warning };
    case 'skipped':
      return { sign: dash };
    case undefined:
      return { sign: dot };
  }
}
