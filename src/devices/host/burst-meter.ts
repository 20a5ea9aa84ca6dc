/** Measures how many frames a device takes at once: some take one every 20 ms, others ten every 200 ms. */
export interface BurstMeter {
  /** The sound device accepted a frame. Returns how many it usually takes at once. */
  accepted(now: number): number;
}

/** Frames that the device takes within this time belong to one burst. */
const sameBurstMs = 5;
/** This many of the last bursts count, except the largest ones: a device that was held up catches up. */
const remembered = 10;
const exceptions = 2;
const frameMs = 20;

export function createBurstMeter(): BurstMeter {
  let bursts: number[] = [];
  let lastAt = Number.NEGATIVE_INFINITY;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** Frames in the current burst. Undefined during the first one, which only fills the library's queue. */
  let count: number | undefined;
  let usual = 1;
  return {
    accepted(now) {
      const isSameBurst = now - lastAt < sameBurstMs;
      const isFirst = lastAt === Number.NEGATIVE_INFINITY;
      lastAt = now;
      if (isFirst) return usual;
      if (isSameBurst) {
        if (count !== undefined) count += 1;
        return usual;
      }
      if (count !== undefined) {
        // If it took more than it can have played since, it was held up and is catching up.
        const played = Math.max(1, Math.round((now - startedAt) / frameMs));
        bursts = [...bursts.slice(1 - remembered), Math.min(count, played)];
      }
      count = 1;
      startedAt = now;
      usual = [...bursts].sort((one, other) => other - one)[exceptions] ?? 1;
      return usual;
    },
  };
}
