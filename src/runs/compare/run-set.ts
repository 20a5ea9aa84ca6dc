import type { Figure } from './figure.ts';

/** What can be compared: the results of these commands, and dialects. */
const runKinds = ['load', 'stream', 'check', 'drill', 'dialect'] as const;
export type RunKind = (typeof runKinds)[number];

/** A baseline with fewer runs does not show how much runs differ by themselves. */
export const fewestRuns = 5;

/** Something that got a word for itself: a rule or a situation with its verdict, or a setting with its value. */
export interface ComparedItem {
  id: string;
  title: string;
  /** `pass`, `fail` and so on; of a setting the value as JSON. */
  verdict: string;
  /** What was seen; empty in a baseline. */
  message: string;
}

/** One run, as it is compared. */
export interface ComparedRun {
  /** Milliseconds since the epoch; null if the result does not say it. */
  at: number | null;
  /** Why it says nothing about the service; empty if it is valid. */
  invalid: readonly string[];
  figures: readonly Figure[];
  items: readonly ComparedItem[];
}

/** Runs of one kind and one plan: a result has one, a baseline several. */
export interface RunSet {
  kind: RunKind;
  /** What it is called, for people: a file. */
  name: string;
  /** What was measured, for people: the URL of a service. */
  subject: string;
  /** What must be the same in all runs that are compared: `sessions`, `200`. */
  plan: readonly (readonly [name: string, value: string | number])[];
  runs: readonly [ComparedRun, ...ComparedRun[]];
}

/** The id of a rule that was broken beside that of a situation: where it is not told, it was kept. */
export function sideRuleId(situation: string, rule: string): string {
  return `${situation}/${rule}`;
}

export function isSideRuleId(id: string): boolean {
  return id.includes('/');
}
