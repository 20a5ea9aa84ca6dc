import type { Figure } from './figure.ts';

/** What can be compared: results of these commands, and dialects. */
const runKinds = ['load', 'stream', 'check', 'drill', 'dialect'] as const;
export type RunKind = (typeof runKinds)[number];

/** A baseline with fewer runs does not show how much runs differ by chance. */
export const fewestRuns = 5;

/** Something that is compared by its word: a rule or a situation with its verdict, or a setting with its value. */
export interface ComparedItem {
  id: string;
  title: string;
  /** `pass`, `fail` and so on; for a setting the value as JSON. */
  verdict: string;
  /** The observation; empty in a baseline. */
  message: string;
}

/** One run, prepared for comparison. */
export interface ComparedRun {
  /** Milliseconds since the epoch; null if it is not known. */
  at: number | null;
  /** Why it is not valid; empty if it is. */
  invalid: readonly string[];
  figures: readonly Figure[];
  items: readonly ComparedItem[];
}

/** Runs of one kind with one plan: a result has one, a baseline several. */
export interface RunSet {
  kind: RunKind;
  /** Shown to people: the name of a file. */
  name: string;
  /** Shown to people: the URL of the service. */
  subject: string;
  /** What must be the same in all compared runs, such as `sessions`, `200`. */
  plan: readonly (readonly [name: string, value: string | number])[];
  runs: readonly [ComparedRun, ...ComparedRun[]];
}

/** The id of a rule that was broken in a situation. If it is missing, the rule was kept. */
export function sideRuleId(situation: string, rule: string): string {
  return `${situation}/${rule}`;
}

export function isSideRuleId(id: string): boolean {
  return id.includes('/');
}
