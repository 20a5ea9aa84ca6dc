/** Length of the timeline. */
export const timelineSpanMs = 30_000;
const bucketMs = 50;
const maxBuckets = timelineSpanMs / bucketMs + 40;

/** Level of one voice in steps of 50 ms; undefined for a step without audio. */
export interface TimelineVoice {
  /** Number of the oldest step kept: step n starts at n × 50 ms. */
  first: number;
  levels: readonly (number | undefined)[];
  /** When received audio runs out if it is played immediately. */
  playedUntil: number;
}

export const silentVoice: TimelineVoice = { first: 0, levels: [], playedUntil: 0 };

/** Adds audio: it starts when it arrived, or at the end of earlier audio. */
export function addAudio(
  voice: TimelineVoice,
  { t, audioMs, rmsDbfs }: { t: number; audioMs: number; rmsDbfs: number },
): TimelineVoice {
  const isNear = voice.playedUntil < t + timelineSpanMs;
  const from = isNear ? Math.max(t, voice.playedUntil) : t;
  const until = from + Math.min(audioMs, timelineSpanMs);
  const [begin, end] = [Math.floor(from / bucketMs), Math.ceil(until / bucketMs)];
  const first = Math.max(voice.levels.length === 0 ? begin : voice.first, end - maxBuckets);
  const levels = voice.levels.slice(first - (voice.levels.length === 0 ? first : voice.first));
  for (let bucket = Math.max(begin, first); bucket < end; bucket += 1) {
    while (levels.length < bucket - first) levels.push(undefined);
    levels[bucket - first] = Math.max(levels[bucket - first] ?? -100, rmsDbfs);
  }
  return { first, levels, playedUntil: until };
}

/** Removes what is not heard after `t`, because the service was interrupted. */
export function dropAudio(voice: TimelineVoice, t: number): TimelineVoice {
  if (voice.playedUntil <= t) return voice;
  const kept = Math.max(0, Math.ceil(t / bucketMs) - voice.first);
  return { ...voice, levels: voice.levels.slice(0, kept), playedUntil: t };
}

/** The timeline at a moment, in columns. A column covers a fixed part of the time axis, so that the picture moves by whole columns. */
export interface TimelineAxis {
  now: number;
  columns: number;
}

function firstColumn({ now, columns }: TimelineAxis): number {
  return Math.floor(now / columnMs(columns)) - columns + 1;
}

function columnMs(columns: number): number {
  return timelineSpanMs / columns;
}

/** Mean level of each column, in dBFS; undefined without audio. Audio that is not played yet is left out. */
export function readVoice(voice: TimelineVoice, axis: TimelineAxis): (number | undefined)[] {
  const perColumn = columnMs(axis.columns) / bucketMs;
  return Array.from({ length: axis.columns }, (_, index) => {
    const column = firstColumn(axis) + index;
    const from = Math.floor(column * perColumn);
    const until = Math.max(from + 1, Math.floor((column + 1) * perColumn));
    const levels: number[] = [];
    for (let bucket = from; bucket < until && bucket * bucketMs <= axis.now; bucket += 1) {
      const level = voice.levels[bucket - voice.first];
      if (level !== undefined) levels.push(level);
    }
    return levels.length === 0 ? undefined : levels.reduce((sum, level) => sum + level, 0) / levels.length;
  });
}

/** The column of a moment; undefined if it is not shown. */
export function columnOf(t: number, axis: TimelineAxis): number | undefined {
  const column = Math.floor(t / columnMs(axis.columns)) - firstColumn(axis);
  return column >= 0 && column < axis.columns ? column : undefined;
}

/** A mark at a column, and the names that can be beside it: the first one that fits is used. */
interface PlacedMark {
  at: number;
  sign: string;
  names: readonly string[];
}

/**
 * Writes marks into the cells of a line, in order of time: all signs, then the names, the newest first. A name is after its
 * sign, or before it at the end of the line. Returns the mark of each cell that belongs to one.
 */
export function placeMarks<Mark extends PlacedMark>(
  cells: string[],
  marks: readonly Mark[],
): Map<number, Mark> {
  const marked = new Map<number, Mark>();
  for (const mark of marks) {
    cells[mark.at] = mark.sign;
    marked.set(mark.at, mark);
  }
  const isFree = (from: number, until: number) =>
    from >= 0 && until <= cells.length && cells.slice(from, until).every((cell) => cell === ' ');
  const placeOf = (at: number, { length }: string) => {
    const after = at + 2;
    const isAtEnd = after + length > cells.length;
    if (isAtEnd) return isFree(at - length - 2, at) ? at - length - 1 : undefined;
    return isFree(at + 1, Math.min(cells.length, after + length + 1)) ? after : undefined;
  };
  for (const mark of marks.toReversed()) {
    if (marked.get(mark.at) !== mark) continue;
    for (const name of mark.names) {
      const from = placeOf(mark.at, name);
      if (from === undefined) continue;
      for (const [index, character] of [...name].entries()) {
        cells[from + index] = character;
        marked.set(from + index, mark);
      }
      break;
    }
  }
  return marked;
}
