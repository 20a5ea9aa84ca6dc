import { escapeText } from '../kernel/escape.ts';
import type { Style } from './style.ts';

/** The result of one check. */
export interface Check {
  name: string;
  /** `off`: absent, and not needed. */
  state: 'ok' | 'off' | 'warning' | 'broken';
  found: string;
  /** How to fix it. */
  mend?: string;
}

const marks = { ok: '✓', off: '·', warning: '!', broken: '✗' } as const;

/** The checks as lines, each with its fix below. */
export function doctorLines(checks: readonly Check[], style: Style): string[] {
  const width = 'loudspeaker'.length;
  const colour = { ok: style.good, off: style.dim, warning: style.note, broken: style.bad };
  return checks.flatMap(({ name, state, found, mend }) => [
    `${colour[state](marks[state])} ${name.padEnd(width)}  ${escapeText(found)}`,
    ...(mend === undefined ? [] : [`  ${' '.repeat(width)}  ${style.dim(`→ ${escapeText(mend)}`)}`]),
  ]);
}
