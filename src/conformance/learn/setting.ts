import { cutText } from '../../kernel/escape.ts';
import type { LearnView } from './view.ts';

/** The range of numbers that the observations allow, both ends included. */
export type Range = readonly [from: number, to: number];

/** The result for one setting: a value with its evidence, or why there is none. */
export type Learned = LearnedValue | { unknown: string };

/** A value of the dialect, and its evidence. */
export interface LearnedValue {
  value: unknown;
  evidence: string;
  range?: Range | undefined;
}

/** How one setting of the dialect is determined. */
export interface Setting {
  /** Its path in the dialect, such as `token.algorithm`. */
  path: string;
  /** The steps that decide it; none if no exchange shows it. */
  steps: readonly string[];
  /** How, or why it cannot be determined. */
  how: string;
  /** Undefined if the observations do not show it. Pure. */
  infer?: (view: LearnView) => Learned | undefined;
}

/** Behaviour of a service that the dialect cannot express. */
export interface Remark {
  steps: readonly string[];
  find(view: LearnView): string | undefined;
}

/** `range`: other values that show the same. */
export function learned(value: unknown, evidence: string, range?: Range): Learned {
  return { value, evidence, range };
}

export function unlearned(why: string): Learned {
  return { unknown: why };
}

/** A setting that no exchange shows. */
export function notProbed(path: string, how: string): Setting {
  return { path, steps: [], how };
}

/** The value that is seen most often; of several, the first. */
export function mostCommon(values: readonly number[]): number | undefined {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** A value as evidence quotes it: shortened JSON. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 80 ? text : `${cutText(text, 79)}…`;
}
