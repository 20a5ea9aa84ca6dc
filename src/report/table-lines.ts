import type { Style } from './style.ts';

/** Rows in columns that are two spaces apart. Text is aligned left, figures right. */
export function columnLines(
  rows: readonly (readonly string[])[],
  isText: (column: number) => boolean = () => true,
): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cellIn = (cell: string, column: number) =>
    isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cellIn).join('  ').trimEnd());
}

/** A short table of dim names and their values. */
export function factLines(rows: readonly (readonly [name: string, value: string])[], style: Style): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${style.dim(name.padEnd(width))}  ${value}`);
}
