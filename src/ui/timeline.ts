/** How much of the past a timeline shows. */
export const timelineSpanMs = 30_000;
const bucketMs = 50;
const maxBuckets = timelineSpanMs / bucketMs + 40;

/** How loud one voice was, in steps of 50 ms; undefined where there was no audio at all. */
export interface Voice {
  /** Number of the first step that is remembered: step n begins at n × 50 ms. */
  first: number;
  levels: readonly (number | undefined)[];
  /** Until when the audio that came lasts for one who plays it as it comes. */
  playedUntil: number;
}

export const silentVoice: Voice = { first: 0, levels: [], playedUntil: 0 };

/** Adds a stretch of audio: it begins when it came, or where audio that came before it ends. */
export function addAudio(
  voice: Voice,
  { t, audioMs, rmsDbfs }: { t: number; audioMs: number; rmsDbfs: number },
): Voice {
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

/** The timeline at a moment, in columns: each is always the same stretch of time, so that it moves by whole ones. */
export interface Axis {
  now: number;
  columns: number;
}

function firstColumn({ now, columns }: Axis): number {
  return Math.floor(now / columnMs(columns)) - columns + 1;
}

function columnMs(columns: number): number {
  return timelineSpanMs / columns;
}

/** How loud each column was on the whole, in dBFS; undefined where there was no audio. What is still to be heard is left out. */
export function readVoice(voice: Voice, axis: Axis): (number | undefined)[] {
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

/** The column that a moment falls into; undefined where that is none that is shown. */
export function columnOf(t: number, axis: Axis): number | undefined {
  const column = Math.floor(t / columnMs(axis.columns)) - firstColumn(axis);
  return column >= 0 && column < axis.columns ? column : undefined;
}
