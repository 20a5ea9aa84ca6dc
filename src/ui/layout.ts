import type { ReactNode } from 'react';

/** Some whole lines of a screen. Each band is drawn separately, and only when its contents have changed. */
export interface Band {
  name: string;
  /** 0: the screen has no room for it. */
  lines: number;
  /** Everything that the band depends on, compared by identity. */
  on: readonly unknown[];
  draw: () => ReactNode;
}

/** Empty lines. */
export function emptyBand(name: string, lines: number): Band {
  return { name, lines, on: [], draw: () => '' };
}

export interface Size {
  columns: number;
  rows: number;
}

/** Empty columns at either side. */
export const margin = 1;

const smallest: Size = { columns: 40, rows: 10 };

export function roomOf({ columns, rows }: Size): Size {
  return { columns: Math.max(smallest.columns, columns), rows: Math.max(smallest.rows, rows) };
}

/** The size between the margins. */
function insideOf(terminal: Size): Size {
  const { columns, rows } = roomOf(terminal);
  return { columns: columns - 2 * margin, rows };
}

/** Two panels side by side: the columns of each, with the gap between them. */
export function splitColumns(columns: number, share = 0.5): { left: number; right: number; gap: number } {
  const gap = 2;
  const left = Math.floor((columns - gap) * share);
  return { left, right: columns - gap - left, gap };
}

/** The first of `count` items to show in this many lines: the item at `at` is in the middle, or near an end. */
export function firstShown(at: number, lines: number, count: number): number {
  return Math.max(0, Math.min(count - lines, at - Math.floor(lines / 2)));
}

// Each function below distributes the lines of a screen: panels fold by priority, and the list gets the rest.

const headHeadingAndFoot = 3;

/** The screen of a session. */
export function layoutStream(terminal: Size) {
  const { columns, rows } = insideOf(terminal);
  const [hasPanels, hasBoth, hasAxis] = [rows >= 20, rows >= 12, rows >= 18];
  const panelLines = rows >= 36 ? 4 : 3;
  const voiceLines = rows >= 44 ? 3 : rows >= 30 ? 2 : 1;
  const stepLines = Number(rows >= 20);
  const levelLines = hasPanels ? 1 + panelLines : 2;
  const timelineLines = 2 * voiceLines + Number(hasBoth) + (hasAxis ? 2 : 0);
  const figureLines = columns >= 76 ? 1 : 2;
  const spaceLines = Number(rows >= 40);
  const taken = headHeadingAndFoot + stepLines + levelLines + timelineLines + figureLines + 4 * spaceLines;
  return {
    columns,
    /** The steps of the session, below the head. */
    stepLines,
    /** Whether token and levels are side by side, with headings; otherwise there are only the levels. */
    hasPanels,
    /** The token panel: identifying claims, time claims. */
    panelLines,
    levelLines,
    /** Lines of each voice on the timeline, whether there is a line for both, and whether it has a heading and an axis. */
    voiceLines,
    hasBoth,
    hasAxis,
    timelineLines,
    figureLines,
    /** Between panels. */
    spaceLines,
    listLines: Math.max(1, rows - taken),
  };
}

/** The lines that the panels could use: the highest number of devices and streams so far. */
export interface ServeContent {
  devices: number;
  streams: number;
  /** Whether there is a page for browsers, with a line for its address. */
  hasPage?: boolean;
}

const fewestPanelLines = 3;

/** The screen of the emulator. */
export function layoutServe(terminal: Size, most: ServeContent) {
  const { columns, rows } = insideOf(terminal);
  /** Whether devices and streams are side by side. */
  const isWide = columns >= 130;
  /** Lines with the URLs, and one with the curl line. */
  const urlLines = rows >= 28 && most.hasPage ? 4 : rows >= 24 ? 3 : rows >= 20 ? 2 : 0;
  const spaceLines = Number(rows >= 40);
  const headAndFoot = 3;
  const hasDevices = isWide || rows >= 20;
  const headings = hasDevices && !isWide ? 3 : 2;
  const free = rows - headAndFoot - urlLines - 3 * spaceLines - headings;
  // The journal gets at least as many lines as the panels.
  const room = Math.floor(free / 2);
  const wanted = (count: number) => Math.max(fewestPanelLines, count);
  const shape = { columns, urlLines, isWide, spaceLines };
  if (isWide) {
    const lines = Math.min(room, wanted(Math.max(most.devices, most.streams)));
    return { ...shape, deviceLines: lines, streamLines: lines, listLines: Math.max(1, free - lines) };
  }
  /** Lines below the heading; 0: no devices. */
  const deviceLines = hasDevices ? Math.min(Math.floor(room * 0.4), wanted(most.devices)) : 0;
  const streamLines = Math.min(room - deviceLines, wanted(most.streams));
  return { ...shape, deviceLines, streamLines, listLines: Math.max(1, free - deviceLines - streamLines) };
}

/** A screen of verdicts. */
export function layoutVerdicts(terminal: Size) {
  const { columns, rows } = insideOf(terminal);
  /** What is being done now. */
  const doingLines = Number(rows >= 14);
  const amountLines = columns >= 76 || rows < 20 ? 1 : 2;
  /** The count of each verdict. */
  const countLines = Number(rows >= 12);
  /** What was seen of one item, below a heading. */
  const seenLines = rows >= 40 ? 4 : rows >= 18 ? 3 : 0;
  const spaceLines = Number(rows >= 40);
  const taken = headHeadingAndFoot + doingLines + amountLines + countLines + seenLines + spaceLines;
  const listLines = Math.max(1, rows - taken);
  return { columns, doingLines, amountLines, countLines, seenLines, spaceLines, listLines };
}

/** What the screen of a load run could show. */
interface LoadContent {
  live: { thresholds: readonly unknown[]; times: readonly unknown[] } | undefined;
}

const headCountsHeadingAndFoot = 4;
/** Open sessions and the core have a line beside the times. */
const otherLines = 2;

/** The screen of a load run. Thresholds and the most important times come first. */
export function layoutLoad(terminal: Size, { live }: LoadContent) {
  const { columns, rows } = insideOf(terminal);
  /** The progress of the plan. */
  const planLines = Number(rows >= 14);
  const hasHeadings = rows >= 18;
  const spaceLines = Number(rows >= 40);
  const thresholds = live?.thresholds.length ?? 0;
  const fewestListLines = rows >= 20 ? 3 : 1;
  const free = rows - headCountsHeadingAndFoot - fewestListLines - planLines - 3 * spaceLines;
  const thresholdLines = Math.min(thresholds, Math.max(1, Math.floor(free / 3)));
  const titles = hasHeadings ? 1 + Number(thresholds > 0) : 0;
  const wanted = Math.max(1, live?.times.length ?? 0) + otherLines;
  const timeLines = Math.max(1, Math.min(wanted, free - thresholdLines - titles));
  const listLines = fewestListLines + Math.max(0, free - thresholdLines - titles - timeLines);
  return { columns, planLines, hasHeadings, timeLines, thresholdLines, spaceLines, listLines };
}
