import { cutText, escapeText } from '../kernel/escape.ts';
import type { Finding, Verdict } from '../rules/rule.ts';
import { plainStyle, type Style } from './style.ts';

/** Columns of a report for people. */
export const width = 80;
export const verdictWidth = 9;
/** The width of the ID of a rule. */
const usualIndent = 5;

/** The style of a verdict. */
export function markOf(verdict: Verdict, style: Style): (text: string) => string {
  const marks: Record<Verdict, (text: string) => string> = {
    pass: style.good,
    fail: style.bad,
    warn: style.note,
    observed: style.strong,
    unknown: style.note,
    skipped: style.dim,
  };
  return marks[verdict];
}

/** What the verdict on a rule means if the rule is expected to fail, because of `why`; undefined for other rules. */
export function expectedText(verdict: Verdict, why: string | undefined): string | undefined {
  if (why === undefined) return undefined;
  return verdict === 'pass' ? `expected to fail, but passed: ${why}` : `expected: ${why}`;
}

/** The message of a finding, and what it means if its rule is expected to fail. */
export function messageText(
  { verdict, message }: Pick<Finding, 'verdict' | 'message'>,
  why: string | undefined,
): string {
  return why === undefined ? message : `${message} (${expectedText(verdict, why)})`;
}

/** A text from outside in lines that fit beside an indent. */
export function wrapText(text: string, indent = usualIndent): string[] {
  const columns = width - indent;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((one) => cutEvery(one, columns))) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** A word in pieces of at most `length`, each safe at the start of a line. */
function cutEvery(word: string, length: number): string[] {
  const parts: string[] = [];
  let rest = escapeText(word);
  while (rest.length > length) {
    const part = cutText(rest, length);
    parts.push(part);
    rest = escapeText(rest.slice(part.length));
  }
  return [...parts, rest];
}

/** `12 pass, 0 fail, 2 warn`: all counts above zero, and always pass and fail. */
export function countsText(verdicts: Record<Verdict, number>, style = plainStyle): string {
  return Object.entries(verdicts)
    .filter(([name, count]) => isCountShown(name, count))
    .map(([name, count]) => markOf(name as Verdict, style)(`${count} ${name}`))
    .join(', ');
}

export function isCountShown(name: string, count: number): boolean {
  return count > 0 || name === 'pass' || name === 'fail';
}

/** Why a run without a fail has failed. */
export const strictText = 'With --strict, warn and unknown are failures';

/** Why a run ended before its plan was done. */
export function stoppedLines(stopped: { message: string } | undefined): string[] {
  return stopped === undefined ? [] : wrapText(`Stopped: ${stopped.message}`);
}
