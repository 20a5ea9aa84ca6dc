import ms from 'ms';

/** The longest timer of Node; a longer one would fire immediately. */
export const longestDurationMs = 2 ** 31 - 1;

/** What is expected where a user writes a duration. */
export const expectedDuration = 'a duration, such as 500ms, 10s or 2m';

/** What is expected instead of a number without a unit: it could be either. */
export function expectedUnit(written: string): string {
  return `a duration with its unit: ${written}s or ${written}ms?`;
}

/** Whether a unit is missing: only 0 is the same in all. */
export function lacksUnit(written: string | number): boolean {
  const text = String(written).trim();
  return /^\d{1,12}(\.\d{1,12})?$/.test(text) && Number(text) !== 0;
}

/** Milliseconds of `1500ms`, `10s`, `2m` or a bare number of milliseconds; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  const value = /^\s*\d.{0,30}$/.test(text) ? ms(text as ms.StringValue) : undefined;
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}
