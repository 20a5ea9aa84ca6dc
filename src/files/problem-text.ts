import { noSuchSetting, type SchemaProblem, shownValueText } from '../protocol/schema-problem.ts';
import type { Place } from './yaml-document.ts';

/** A problem of a file, at its place. */
export interface PlacedProblem extends SchemaProblem, Place {
  /** For an unknown setting: the one that was probably meant. */
  meant?: string;
}

/** Maximum number of problems in a message. The details of the error have all of them. */
const problemsTold = 10;

/** All problems of a file in one message: each as `file:line:column`, the path, the value and what was expected. */
export function problemsText(file: string, problems: readonly PlacedProblem[]): string {
  const texts = problems.slice(0, problemsTold).map((problem) => problemText(file, problem));
  if (problems.length > problemsTold) texts.push(`and ${problems.length - problemsTold} more`);
  return texts.join('; ');
}

/** The problems in the order of the file. */
export function inOrder(problems: readonly PlacedProblem[]): PlacedProblem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

function problemText(file: string, { path, value, expected, meant, ...place }: PlacedProblem): string {
  const where = `${locationText(file, place)}: ${path}`;
  if (expected === noSuchSetting) {
    return `${where}: ${noSuchSetting}${meant === undefined ? '' : `, did you mean ${meant}?`}`;
  }
  return `${where}: ${shownValueText(value)}, expected ${expected}`;
}

export function locationText(file: string, { line, column }: Place): string {
  return `${file}:${line}:${column}`;
}
