import type { View } from './view.ts';

/** The numbers that what was seen allows, both ends included. */
export type Range = readonly [from: number, to: number];

/** What was found out of one setting: a value of the dialect with what shows it, or why there is none. */
export type Learned = Told | { unknown: string };

/** A value of the dialect, and what shows it. */
export interface Told {
  value: unknown;
  evidence: string;
  range?: Range | undefined;
}

/** How one setting of the dialect is found out. */
export interface Setting {
  /** Where it stands in the dialect: `token.algorithm`. */
  path: string;
  /** The steps that decide it; none where no exchange tells it. */
  steps: readonly string[];
  /** How, or why it cannot be told. */
  how: string;
  /** Undefined where what was seen does not tell it. Pure. */
  infer?: (view: View) => Learned | undefined;
}

/** What a service does that the dialect has no word for. */
export interface Remark {
  steps: readonly string[];
  find(view: View): string | undefined;
}

/** `range`: other values that show the same. */
export function known(value: unknown, evidence: string, range?: Range): Learned {
  return { value, evidence, range };
}

export function untold(why: string): Learned {
  return { unknown: why };
}

/** A setting that no exchange tells. */
export function notProbed(path: string, how: string): Setting {
  return { path, steps: [], how };
}

/** A value as evidence quotes it: JSON, cut. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
