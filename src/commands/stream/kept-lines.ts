import { stripVTControlCharacters } from 'node:util';
import { cutText } from '../../kernel/escape.ts';

/** Bounds, because a session can last for days and a service can send texts of any length. */
const maxLines = 100;
const maxCharacters = 500;

/** Keeps the last lines of a session, to print when its screen closes. Counts the dropped older ones. */
export interface KeptLines {
  add(lines: readonly string[]): void;
  clear(): void;
  lines(): string[];
}

export function createKeptLines(): KeptLines {
  let kept: string[] = [];
  let leftOut = 0;
  return {
    add(lines) {
      kept.push(...lines.map(cutLine));
      const over = Math.max(0, kept.length - maxLines);
      leftOut += over;
      kept = kept.slice(over);
    },
    clear() {
      kept = [];
      leftOut = 0;
    },
    lines: () => (leftOut === 0 ? kept : [`… ${leftOut} lines before these`, ...kept]),
  };
}

/** Removes colours, because the cut end of the line would have reset them. */
function cutLine(line: string): string {
  return line.length <= maxCharacters ? line : `${cutText(stripVTControlCharacters(line), maxCharacters)}…`;
}
