/** Milliseconds to a tenth, as in events and results. */
export function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** `1.50 s` */
export function secondsText(ms: number, digits = 2): string {
  return `${(ms / 1000).toFixed(digits)} s`;
}
