import ms from 'ms';

/** The longest timer of Node; a longer one would fire at once. */
export const longestDurationMs = 2 ** 31 - 1;

/** Milliseconds of `1500ms`, `10s`, `2m` or a bare number of milliseconds; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  const value = /^\s*\d.{0,30}$/.test(text) ? ms(text as ms.StringValue) : undefined;
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}
