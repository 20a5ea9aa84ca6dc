/**
 * The level of the background: the quietest frame of the last few seconds, kept as the minima of eight stretches.
 * Plain data: there is one for each of a thousand sessions.
 */
export interface NoiseFloor {
  readonly framesPerStretch: number;
  /** dBFS. */
  readonly minima: number[];
  stretch: number;
  framesInStretch: number;
}

const stretches = 8;

/**
 * A noise floor over `frames` frames. Before that many frames it is at most `initialDbfs`, so that speech at the
 * very start does not count as noise.
 */
export function createNoiseFloor(frames: number, initialDbfs: number): NoiseFloor {
  return {
    framesPerStretch: Math.max(1, Math.ceil(frames / stretches)),
    minima: new Array<number>(stretches).fill(initialDbfs),
    stretch: 0,
    framesInStretch: 0,
  };
}

/** Takes the level of the next frame, in dBFS, and returns the floor with it. */
export function updateNoiseFloor(floor: NoiseFloor, dbfs: number): number {
  const { minima, stretch } = floor;
  // The first frame of a stretch replaces the oldest one, so that no stretch is empty.
  minima[stretch] = floor.framesInStretch === 0 ? dbfs : Math.min(minima[stretch] ?? dbfs, dbfs);
  floor.framesInStretch += 1;
  if (floor.framesInStretch === floor.framesPerStretch) {
    floor.framesInStretch = 0;
    floor.stretch = (stretch + 1) % stretches;
  }
  return Math.min(...minima);
}
