/** When one side makes a sound, in milliseconds of the time axis. */
export interface SoundSpan {
  startMs: number;
  endMs: number;
}

/** Joins sounds over pauses that are shorter than this. */
export function joinSounds(sounds: readonly SoundSpan[], pauseMs: number): SoundSpan[] {
  const joined: SoundSpan[] = [];
  for (const { startMs, endMs } of sounds) {
    const last = joined.at(-1);
    if (last !== undefined && startMs - last.endMs < pauseMs) last.endMs = endMs;
    else joined.push({ startMs, endMs });
  }
  return joined;
}

/** How long two lists of sounds go on at once. Those of a list do not overlap. */
export function overlaps(a: readonly SoundSpan[], b: readonly SoundSpan[]): SoundSpan[] {
  return a.flatMap((one) =>
    b.flatMap((other) => {
      const startMs = Math.max(one.startMs, other.startMs);
      const endMs = Math.min(one.endMs, other.endMs);
      return endMs > startMs ? [{ startMs, endMs }] : [];
    }),
  );
}

export function lengthOf(sounds: readonly SoundSpan[]): number {
  return sounds.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
}
