import type { CheckResult } from '../conformance/check.ts';
import type { Cost } from '../conformance/cost.ts';
import type { Judged } from '../conformance/judge.ts';
import type { Plan } from '../conformance/plan.ts';
import { secondsText } from '../protocol/time-text.ts';
import { exchangeLine } from './check-evidence.ts';
import { countText } from './event-words.ts';
import type { Style } from './style.ts';
import { countsText, markOf, stoppedLines, verdictWidth, width, wrapText } from './verdict-lines.ts';

const idWidth = 5;
const titleWidth = 42;
const indent = ' '.repeat(idWidth);
const shownExchanges = 3;

/** A rule, and below it what was seen where that is not what the rule says. No line is longer than 80 columns. */
export function ruleLines({ rule, finding, evidence, expected }: Judged, style: Style): string[] {
  const { verdict, message } = finding;
  const title = rule.title.padEnd(titleWidth);
  const ids = idsText(finding.evidence, width - idWidth - verdictWidth - titleWidth - 1);
  const mark = markOf(verdict, style)(verdict.padEnd(verdictWidth));
  const line = `${rule.id.padEnd(idWidth)}${mark}${title} ${verdict === 'skipped' ? '' : ids}`.trimEnd();
  if (verdict === 'pass')
    return expected === undefined ? [line] : [line, ...wrap(`expected to fail, but passes: ${expected}`)];
  if (verdict === 'skipped') return [line, ...wrap(message).map((text) => style.dim(text))];
  const shown = verdict === 'observed' ? [] : evidence.slice(0, shownExchanges);
  return [
    line,
    ...wrap(message),
    ...(expected === undefined ? [] : wrap(`expected: ${expected}`)),
    ...shown.flatMap((seen) => wrap(`${seen.id}: ${exchangeLine(seen)}`).map((text) => style.dim(text))),
  ];
}

/** As many names as fit, and how many more there are. */
function idsText(ids: readonly string[], columns: number): string {
  const whole = ids.join(' ');
  if (whole.length <= columns) return whole;
  for (let count = ids.length - 1; count > 0; count -= 1) {
    const text = `${ids.slice(0, count).join(' ')} +${ids.length - count}`;
    if (text.length <= columns) return text;
  }
  return `${ids.length} exchanges`;
}

function wrap(text: string): string[] {
  return wrapText(text).map((line) => `${indent}${line}`);
}

/** The counts, the cost, and why the run ended early. */
export function checkSummaryLines(
  { verdicts, spent, elapsedMs, stopped }: CheckResult,
  style: Style,
): string[] {
  return [
    '',
    ...stoppedLines(stopped),
    countsText(verdicts, style),
    `${costText(spent)}, ${secondsText(elapsedMs, 1)}`,
  ];
}

export function costText({ tokens, plain, connections }: Cost): string {
  return `${countText(tokens, 'token request')}, ${plain} without a key, ${countText(connections, 'connection')}`;
}

/** What would be asked, in its order, and what it costs. */
export function planLines({ steps, cost, confirmCost, durationMs }: Plan, style: Style): string[] {
  const rows = steps.map(({ id, title, after }) => {
    const when = after === undefined ? '' : ` (${after.ms / 1000} s after ${after.step})`;
    return `${id.padEnd(9)}${title}${when}`;
  });
  return [
    ...rows,
    '',
    style.strong(`${costText(cost)}, about ${Math.round(durationMs / 1000)} s`),
    `Confirming failures costs at most: ${costText(confirmCost)}`,
    'Nothing was sent.',
  ];
}
