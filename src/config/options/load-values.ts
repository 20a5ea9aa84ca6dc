import type { Parse } from '../parse.ts';

/** Part `number` of `of`, from 1. */
export interface Shard {
  number: number;
  of: number;
}

/** `2/8`. */
export const parseShard: Parse<Shard> = (text) => {
  const [, first, second] = /^(\d{1,5})\/(\d{1,5})$/.exec(text) ?? [];
  const [number, of] = [Number(first), Number(second)];
  if (number >= 1 && number <= of) return { number, of };
  throw new Error('expected I/N with I from 1 to N, such as 2/8');
};

/** Milliseconds since the epoch of `2026-11-22T08:00:00Z`, or of seconds since the epoch. */
export const parseStart: Parse<number> = (text) => {
  const isSeconds = /^\d{9,11}(\.\d{1,3})?$/.test(text);
  const ms = isSeconds ? Number(text) * 1000 : /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return Math.round(ms);
  throw new Error('expected a time, such as 2026-11-22T08:00:00Z, or seconds since the epoch');
};
