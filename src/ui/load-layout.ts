import { margin, roomOf, type Size } from './layout.ts';
import type { LoadModel } from './load-model.ts';

/** The screen of a load run. */
export interface LoadLayout {
  columns: number;
  rows: number;
  /** A line for how far the plan is. */
  plan: boolean;
  headings: boolean;
  /** Lines of the table of times. */
  timeLines: number;
  thresholdLines: number;
  spaces: boolean;
  listLines: number;
}

const headCountsHeadingAndFoot = 4;
/** Open sessions and the core have a line beside the times. */
const otherLines = 2;

/** Thresholds and the most important times come first; the list gets what is left. */
export function layoutLoad(terminal: Size, { live }: Pick<LoadModel, 'live'>): LoadLayout {
  const { columns: all, rows } = roomOf(terminal);
  const columns = all - 2 * margin;
  const plan = rows >= 14;
  const headings = rows >= 18;
  const spaces = rows >= 40;
  const thresholds = live?.thresholds.length ?? 0;
  const fewestListLines = rows >= 20 ? 3 : 1;
  const free = rows - headCountsHeadingAndFoot - fewestListLines - Number(plan) - (spaces ? 3 : 0);
  const thresholdLines = Math.min(thresholds, Math.max(1, Math.floor(free / 3)));
  const titles = headings ? 1 + Number(thresholds > 0) : 0;
  const wanted = Math.max(1, live?.times.length ?? 0) + otherLines;
  const timeLines = Math.max(1, Math.min(wanted, free - thresholdLines - titles));
  const listLines = fewestListLines + Math.max(0, free - thresholdLines - titles - timeLines);
  return { columns, rows, plan, headings, timeLines, thresholdLines, spaces, listLines };
}
