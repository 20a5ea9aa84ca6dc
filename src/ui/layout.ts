/** How the lines of a screen are shared out: panels fold away by priority, and the list takes the rest. */
export interface StreamLayout {
  /** Between the margins. */
  columns: number;
  rows: number;
  /** The steps of the session, below the head. */
  steps: boolean;
  /** Token and levels with headings, side by side; else the levels alone. */
  panels: boolean;
  /** Lines of the token panel: claims that identify, claims of time. */
  panelLines: number;
  /** Lines of each voice on the timeline, and whether it has a heading and an axis. */
  voiceLines: number;
  axis: boolean;
  figureLines: number;
  /** Empty lines between panels. */
  spaces: boolean;
  listLines: number;
}

/** Empty columns at either side. */
export const margin = 1;

export const smallest = { columns: 40, rows: 10 };

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
    axis,
    figureLines: columns >= 76 ? 1 : 2,
    spaces,
  };
  return { ...shape, listLines: Math.max(1, rows - streamLinesWithoutList(shape)) };
}

function streamLinesWithoutList(shape: Omit<StreamLayout, 'listLines'>): number {
  const head = 1 + Number(shape.steps);
  const levels = shape.panels ? 1 + shape.panelLines : 2;
  const timeline = 2 * shape.voiceLines + (shape.axis ? 2 : 0);
  const listAndFoot = 2;
  return head + levels + timeline + shape.figureLines + listAndFoot + (shape.spaces ? 4 : 0);
}

/** The screen of the emulator. */
export interface ServeLayout {
  columns: number;
  rows: number;
  /** Lines with the URLs, and one with the curl line. */
  urlLines: number;
  /** Devices and sessions side by side; else one below the other. */
  isWide: boolean;
  /** Lines below each heading; no devices where there is no room for them. */
  deviceLines: number;
  sessionLines: number;
  spaces: boolean;
  listLines: number;
}

export function layoutServe(terminal: Size): ServeLayout {
  const { columns: all, rows } = roomOf(terminal);
  const columns = all - 2 * margin;
  const isWide = columns >= 130;
  const urlLines = rows >= 30 ? 3 : rows >= 20 ? 2 : 0;
  const spaces = rows >= 40;
  const headAndFoot = 3;
  const panels = isWide ? 1 : rows >= 20 ? 2 : 1;
  const free = rows - headAndFoot - urlLines - (spaces ? 3 : 0) - panels - 1;
  // The journal keeps at least as much room as the panels take.
  const forPanels = Math.floor(free / 2);
  const sessionLines = isWide || panels === 1 ? forPanels : Math.ceil(forPanels * 0.65);
  const deviceLines = isWide ? forPanels : panels === 1 ? 0 : forPanels - sessionLines;
  const panelLines = isWide ? forPanels : sessionLines + deviceLines;
  return {
    columns,
    rows,
    urlLines,
    isWide,
    deviceLines,
    sessionLines,
    spaces,
    listLines: Math.max(1, free - panelLines),
  };
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
