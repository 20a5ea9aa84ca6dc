import type { PrintedLine } from './child-command.ts';

/** A long run prints more lines than fit into an answer. */
const maxKeptLines = 500;
/** Maximum characters of the kept lines together, as JSON. */
const maxKeptCharacters = 1024 * 1024;
/** A longer line is kept without what it says: part of a secret at its cut end would not be found. */
const longestLine = 64 * 1024;

/** The first lines of a command, as many as an answer may need. */
export interface KeptLines {
  readonly lines: readonly PrintedLine[];
  /** Number of lines that were not kept. */
  readonly leftOut: number;
  /** Returns the line as it may be kept: a line that is too long as its type and its number of characters. */
  add(line: PrintedLine): PrintedLine;
}

export function createKeptLines(): KeptLines {
  const lines: PrintedLine[] = [];
  let characters = 0;
  let leftOut = 0;
  return {
    lines,
    get leftOut() {
      return leftOut;
    },
    add(line) {
      const { length } = JSON.stringify(line);
      const kept = length > longestLine ? lengthOnly(line, length) : line;
      characters += kept === line ? length : JSON.stringify(kept).length;
      if (lines.length < maxKeptLines && characters <= maxKeptCharacters) lines.push(kept);
      else leftOut += 1;
      return kept;
    },
  };
}

function lengthOnly({ t, type }: PrintedLine, characters: number): PrintedLine {
  return {
    ...(typeof t === 'number' && { t }),
    ...(type !== undefined && { type }),
    characters,
  };
}
