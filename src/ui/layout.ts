/** Distributes the lines of a screen: panels fold by priority, and the list gets the rest. */
export interface StreamLayout {
  /** Between the margins. */
  columns: number;
  rows: number;
  /** The steps of the session, below the head. */
  steps: boolean;
  /** Token and levels with headings, side by side; else only the levels. */
  panels: boolean;
  /** Lines of the token panel: identifying claims, time claims. */
  panelLines: number;
  /** Lines of each voice on the timeline, whether there is one for both together, and whether it has a heading and an axis. */
  voiceLines: number;
  both: boolean;
  axis: boolean;
  figureLines: number;
  /** Empty lines between panels. */
  spaces: boolean;
  listLines: number;
}

/** Empty columns at either side. */
export const margin = 1;

export const smallest = { columns: 40, rows: 10 };

/** The first of `count` items in so many lines: the one at `at` is in the middle, or near an end of them. */
export function firstShown(at: number, lines: number, count: number): number {
  return Math.max(0, Math.min(count - lines, at - Math.floor(lines / 2)));
}

export interface Size {
  columns: number;
  rows: number;
}

export function layoutStream(terminal: Size): StreamLayout {
  const { columns: all, rows } = roomOf(terminal);
  const columns = all - 2 * margin;
  const panels = rows >= 20;
  const axis = rows >= 18;
  const spaces = rows >= 40;
  const shape = {
    columns,
    rows,
    steps: rows >= 20,
    panels,
    panelLines: rows >= 36 ? 4 : 3,
    voiceLines: rows >= 44 ? 3 : rows >= 30 ? 2 : 1,
    both: rows >= 12,
    axis,
    figureLines: columns >= 76 ? 1 : 2,
    spaces,
  };
  return { ...shape, listLines: Math.max(1, rows - streamLinesWithoutList(shape)) };
}

function streamLinesWithoutList(shape: Omit<StreamLayout, 'listLines'>): number {
  const head = 1 + Number(shape.steps);
  const levels = shape.panels ? 1 + shape.panelLines : 2;
  const timeline = 2 * shape.voiceLines + Number(shape.both) + (shape.axis ? 2 : 0);
  const listAndFoot = 2;
  return head + levels + timeline + shape.figureLines + listAndFoot + (shape.spaces ? 4 : 0);
}

/** The screen of the emulator. */
export interface ServeLayout {
  columns: number;
  rows: number;
  /** Lines with the URLs, and one with the curl line. */
  urlLines: number;
  /** Devices and streams side by side; else one below the other. */
  isWide: boolean;
  /** Lines below each heading; no devices without room for them. */
  deviceLines: number;
  streamLines: number;
  spaces: boolean;
  listLines: number;
}

/** The lines that the panels could use: the highest number of devices and streams so far. */
export interface ServeContent {
  devices: number;
  streams: number;
  /** Whether there is a page for browsers, with a line for its address. */
  hasPage?: boolean;
}

const fewestPanelLines = 3;

export function layoutServe(terminal: Size, most: ServeContent = { devices: 0, streams: 0 }): ServeLayout {
  const { columns: all, rows } = roomOf(terminal);
  const columns = all - 2 * margin;
  const isWide = columns >= 130;
  const urlLines = rows >= 28 && most.hasPage ? 4 : rows >= 24 ? 3 : rows >= 20 ? 2 : 0;
  const spaces = rows >= 40;
  const headAndFoot = 3;
  const hasDevices = isWide || rows >= 20;
  const headings = hasDevices && !isWide ? 3 : 2;
  const free = rows - headAndFoot - urlLines - (spaces ? 3 : 0) - headings;
  // The journal gets at least as many lines as the panels.
  const room = Math.floor(free / 2);
  const wanted = (count: number) => Math.max(fewestPanelLines, count);
  if (isWide) {
    const lines = Math.min(room, wanted(Math.max(most.devices, most.streams)));
    const listLines = Math.max(1, free - lines);
    return { columns, rows, urlLines, isWide, deviceLines: lines, streamLines: lines, spaces, listLines };
  }
  const deviceLines = hasDevices ? Math.min(Math.floor(room * 0.4), wanted(most.devices)) : 0;
  const streamLines = Math.min(room - deviceLines, wanted(most.streams));
  const listLines = Math.max(1, free - deviceLines - streamLines);
  return { columns, rows, urlLines, isWide, deviceLines, streamLines, spaces, listLines };
}

/** A screen of verdicts. */
export interface VerdictLayout {
  columns: number;
  rows: number;
  /** A line for what is being done now. */
  doing: boolean;
  amountLines: number;
  /** How many items have which verdict. */
  counts: boolean;
  /** Lines for what was seen of one item, below a heading; 0: none. */
  seenLines: number;
  spaces: boolean;
  listLines: number;
}

export function layoutVerdicts(terminal: Size): VerdictLayout {
  const { columns: all, rows } = roomOf(terminal);
  const columns = all - 2 * margin;
  const shape = {
    amountLines: columns >= 76 || rows < 20 ? 1 : 2,
    doing: rows >= 14,
    counts: rows >= 12,
    seenLines: rows >= 40 ? 3 : rows >= 18 ? 2 : 0,
    spaces: rows >= 40,
  };
  const { doing, amountLines, counts, seenLines, spaces } = shape;
  const headHeadingAndFoot = 3;
  const seen = seenLines === 0 ? 0 : 1 + seenLines;
  const taken = headHeadingAndFoot + Number(doing) + amountLines + Number(counts) + seen + Number(spaces);
  return { columns, rows, ...shape, listLines: Math.max(1, rows - taken) };
}

export function roomOf({ columns, rows }: Size): Size {
  return { columns: Math.max(smallest.columns, columns), rows: Math.max(smallest.rows, rows) };
}

/** Two panels side by side: the columns of each, with the gap between them. */
export function halves(columns: number, share = 0.5): { left: number; right: number; gap: number } {
  const gap = 2;
  const left = Math.floor((columns - gap) * share);
  return { left, right: columns - gap - left, gap };
}
