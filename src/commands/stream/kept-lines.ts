import { stripVTControlCharacters } from 'node:util';
import { cutText } from '../../kernel/escape.ts';

/** A session can go on for days, and a service can say anything at any length. */
const maxLines = 100;
const maxCharacters = 500;

/** The last lines of a session, for when its screen is gone; the oldest make room, and are counted. */
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

/** Colours go with the end of the line, which would set them back. */
function cutLine(line: string): string {
  return line.length <= maxCharacters ? line : `${cutText(stripVTControlCharacters(line), maxCharacters)}…`;
}
