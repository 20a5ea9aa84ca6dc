/** When one side makes a sound, in milliseconds on the time axis. */
export interface SoundSpan {
  startMs: number;
  endMs: number;
}

/** Joins sounds if the pause between them is shorter than `pauseMs`. */
export function joinSounds(sounds: readonly SoundSpan[], pauseMs: number): SoundSpan[] {
  const joined: SoundSpan[] = [];
  for (const { startMs, endMs } of sounds) {
    const last = joined.at(-1);
    if (last !== undefined && startMs - last.endMs < pauseMs) last.endMs = endMs;
    else joined.push({ startMs, endMs });
  }
  return joined;
}

/** Where sounds of two lists overlap. Those of one list do not. */
export function findOverlaps(a: readonly SoundSpan[], b: readonly SoundSpan[]): SoundSpan[] {
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
