/** Where each row of the picture is, in pixels from the top. */
export const rows = {
  axis: { top: 0, height: 24 },
  phases: { top: 24, height: 20 },
  out: { top: 50, height: 104 },
  outTurns: { top: 158, height: 20 },
  in: { top: 190, height: 104 },
  inTurns: { top: 298, height: 20 },
  arrivals: { top: 324, height: 14 },
  events: { top: 344, height: 54 },
};
export const pictureHeight = 402;
/** Room for the names of the rows. */
export const gutter = 64;

export function middleOf({ top, height }: { top: number; height: number }): number {
  return top + height / 2;
}

/** Minutes and seconds, with the decimals that `step` (ms) needs. */
export function placeTimeText(ms: number, step = 1): string {
  const decimals = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
  const minutes = Math.floor(ms / 60_000);
  const seconds = ((ms % 60_000) / 1000).toFixed(decimals).padStart(decimals === 0 ? 2 : decimals + 3, '0');
  return `${minutes}:${seconds}`;
}
