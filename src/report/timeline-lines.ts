import type { Dialogue } from '../audio/dialogue/dialogue.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { RecordedEvent } from '../recording/format.ts';
import type { Gap, Timeline } from '../recording/timeline.ts';
import type { RecordedTurn } from '../recording/turns.ts';
import { dialogueMarks, dialogueSigns } from './dialogue-lines.ts';
import type { Style } from './style.ts';

export interface Picture extends Timeline {
  dialogue: Pick<Dialogue, 'overlaps' | 'turns' | 'noises' | 'remarks'>;
  /** The loudest amplitude, 0 to 1, of each column. */
  peaks: { out: readonly number[]; in: readonly number[] };
  /** Where something is wrong with the sound of the AI. */
  sounds: readonly { t: number }[];
  events: readonly RecordedEvent[];
}

export interface PictureOptions {
  /** Whether to use ASCII characters only. */
  ascii: boolean;
  style: Style;
}

/** Columns before the picture, for the name of a row. */
export const labelColumns = 8;
const rowsPerVoice = 2;
/** The quietest sound that is drawn. */
const floorDb = -48;

interface Glyphs {
  /** From an empty to a full cell. */
  levels: readonly string[];
  left: string;
  line: string;
  right: string;
  gap: string;
  overlap: string;
  tick: string;
}

const blocks: Glyphs = {
  levels: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  left: '╰',
  line: '─',
  right: '╯',
  gap: '░',
  overlap: dialogueSigns.overlap,
  tick: '╷',
};
const plain: Glyphs = {
  levels: [' ', '.', ':', '|', '#'],
  left: '\\',
  line: '_',
  right: '/',
  gap: '!',
  overlap: dialogueSigns.plainOverlap,
  tick: '|',
};

/** Both voices on one time axis, with turns, gaps and events. Its width is `labelColumns` and a column for each peak. */
export function timelineLines(picture: Picture, { ascii, style }: PictureOptions): string[] {
  const glyphs = ascii ? plain : blocks;
  const columns = picture.peaks.out.length;
  const toColumn = (t: number) =>
    Math.min(columns - 1, Math.max(0, Math.floor((t / Math.max(1, picture.durationMs)) * columns)));
  const turnsOf = (voice: RecordedTurn['voice']) => picture.turns.filter((turn) => turn.voice === voice);
  const row = (label: string, text: string) => {
    const shown = text.trimEnd();
    return shown === '' ? style.dim(label) : `${style.dim(label.padEnd(labelColumns))}${shown}`;
  };
  const waves = (label: string, peaks: readonly number[], gaps: readonly Gap[] = []) =>
    drawWave(peaks, glyphs).map((cells, index) => {
      if (index < rowsPerVoice - 1) return row('', cells.join(''));
      for (const { startMs, endMs } of gaps) {
        write(cells, toColumn(startMs), glyphs.gap.repeat(Math.max(1, toColumn(endMs) - toColumn(startMs))));
      }
      return row(label, cells.join(''));
    });
  const { overlaps } = picture.dialogue;
  const drawOverlaps = () => {
    const cells = canvas(columns);
    for (const { startMs, endMs } of overlaps)
      write(
        cells,
        toColumn(startMs),
        glyphs.overlap.repeat(Math.max(1, toColumn(endMs) - toColumn(startMs))),
      );
    return cells.join('');
  };
  const { marks, kinds } = drawMarks(picture, columns, toColumn);
  return [
    ...drawAxis(picture.durationMs, columns, toColumn, glyphs).map((text) => row('', style.dim(text))),
    ...waves('you', picture.peaks.out),
    row('', drawSpans(turnsOf('out'), columns, toColumn, glyphs)),
    ...waves('ai', picture.peaks.in, picture.gaps),
    row('', drawSpans(turnsOf('in'), columns, toColumn, glyphs)),
    ...(overlaps.length === 0 ? [] : [row('both', drawOverlaps())]),
    row('events', marks),
    row('', style.dim(legend(kinds, picture, glyphs))),
  ];
}

type ToColumn = (t: number) => number;

function drawWave(peaks: readonly number[], { levels }: Glyphs): string[][] {
  const steps = levels.length - 1;
  const heights = peaks.map((peak) => {
    const db = Math.max(floorDb, 20 * Math.log10(Math.max(peak, 1e-6)));
    return Math.round((1 - db / floorDb) * steps * rowsPerVoice);
  });
  return Array.from({ length: rowsPerVoice }, (_, index) => {
    const below = (rowsPerVoice - 1 - index) * steps;
    return heights.map((height) => levels[Math.min(steps, Math.max(0, height - below))] ?? ' ');
  });
}

const niceSteps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];
const columnsPerLabel = 9;

function drawAxis(durationMs: number, columns: number, toColumn: ToColumn, { tick }: Glyphs): string[] {
  const seconds = durationMs / 1000;
  const step = niceSteps.find((one) => (one / seconds) * columns >= columnsPerLabel) ?? seconds;
  const [labels, ticks] = [canvas(columns), canvas(columns)];
  for (let index = 0; index * step < seconds; index += 1) {
    const at = index * step;
    const text = `${Number(at.toFixed(1))} s`;
    write(labels, toColumn(at * 1000), text);
    write(ticks, toColumn(at * 1000), tick);
  }
  return [labels.join(''), ticks.join('')];
}

function drawSpans(
  turns: readonly RecordedTurn[],
  columns: number,
  toColumn: ToColumn,
  { left, line, right }: Glyphs,
): string {
  const cells = canvas(columns);
  for (const turn of turns) {
    const [start, end] = [toColumn(turn.startMs), toColumn(turn.endMs)];
    const inner = Math.max(0, end - start - 1);
    write(cells, start, end > start ? left + line.repeat(inner) + right : left);
    const text = [turnText(turn), ` ${secondsText(turn.endMs - turn.startMs)} `].find(
      (one) => one.length + 2 <= inner,
    );
    if (text !== undefined) write(cells, start + 1 + Math.floor((inner - text.length) / 2), text);
  }
  return cells.join('');
}

function turnText({ startMs, endMs, afterMs, bargeIn }: RecordedTurn): string {
  const length = secondsText(endMs - startMs);
  if (bargeIn) return ` ${length}, talks over `;
  return afterMs === null ? ` ${length} ` : ` ${length}, after ${Math.round(afterMs)} ms `;
}

/** A letter for each event; if several fall into one column, the most severe. */
const markNames: Record<string, string> = {
  s: 'status',
  m: 'message',
  [dialogueSigns.yields]: 'the AI yields',
  [dialogueSigns.maybeFalseStop]: 'false stop if it is not a turn',
  [dialogueSigns.falseStop]: 'false stop',
  k: 'AI sound',
  c: 'connected',
  r: 'retry',
  w: 'warning',
  d: 'device violation',
  v: 'service violation',
  x: 'close',
  e: 'error',
};

function markOf(event: RecordedEvent): string | undefined {
  // What was found in the AI's audio is marked where it is heard.
  if (event.type === 'warning' && event.agoMs !== undefined) return undefined;
  // In a proxy: a rule that a side broke.
  if (event.type === 'warning') return event.side === undefined ? 'w' : event.side === 'device' ? 'd' : 'v';
  if (event.type === 'retry') return 'r';
  if (event.type === 'close') return 'x';
  if (event.type !== 'message') return undefined;
  return { connected: 'c', status: 's', error: 'e', malformed: 'e' }[event.category] ?? 'm';
}

function drawMarks({ events, dialogue, sounds }: Picture, columns: number, toColumn: ToColumn) {
  const cells = canvas(columns);
  const order = Object.keys(markNames);
  const found = new Set<string>();
  const stops = [
    ...dialogueMarks(dialogue).map(({ sign, t }) => ({ mark: sign, t })),
    ...sounds.map(({ t }) => ({ mark: 'k', t })),
  ];
  const marked = [...events.map((event) => ({ mark: markOf(event), t: event.t })), ...stops];
  for (const { mark, t } of marked) {
    if (mark === undefined) continue;
    found.add(mark);
    const column = toColumn(t);
    if (order.indexOf(mark) > order.indexOf(cells[column] ?? ' ')) cells[column] = mark;
  }
  return { marks: cells.join(''), kinds: order.filter((mark) => found.has(mark)) };
}

function legend(
  kinds: readonly string[],
  { gaps, dialogue: { overlaps } }: Picture,
  { gap, overlap }: Glyphs,
): string {
  const texts = kinds.map((mark) => `${mark} ${markNames[mark]}`);
  if (gaps.length > 0) texts.push(`${gap} gap (${gaps.length})`);
  if (overlaps.length > 0) texts.push(`${overlap} both speak (${overlaps.length})`);
  return texts.join('  ');
}

function canvas(columns: number): string[] {
  return Array.from({ length: columns }, () => ' ');
}

/** A label that does not fit is left out. */
function write(cells: string[], at: number, text: string): void {
  if (at + text.length > cells.length) return;
  for (const [index, character] of [...text].entries()) cells[at + index] = character;
}
