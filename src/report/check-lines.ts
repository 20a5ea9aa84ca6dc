import type { AgainResult, AskedAgain } from '../conformance/again.ts';
import type { CheckResult } from '../conformance/check.ts';
import { type Cost, totalOf } from '../conformance/cost.ts';
import type { Judged } from '../conformance/judge.ts';
import type { Plan } from '../conformance/plan.ts';
import { isFailed } from '../conformance/verdicts.ts';
import { version } from '../kernel/version.ts';
import { countText } from '../protocol/count-text.ts';
import { secondsText } from '../protocol/time-text.ts';
import { type EvidenceJson, exchangeJson, exchangeLine, verdictJson } from './check-evidence.ts';
import type { Style } from './style.ts';
import {
  countsText,
  expectedText,
  markOf,
  stoppedLines,
  strictText,
  verdictWidth,
  width,
  wrapText,
} from './verdict-lines.ts';

const idWidth = 5;
const titleWidth = 42;
const indent = ' '.repeat(idWidth);
const shownExchanges = 3;

/**
 * A rule, and below it what was seen, unless the rule passed. No line is longer than 80 columns. `isDetailed`: every exchange
 * is named, also those of a series and of a rule that passed.
 */
export function ruleLines(
  { rule, finding, evidence, expected }: Judged,
  style: Style,
  isDetailed = false,
): string[] {
  const { verdict, message } = finding;
  const { ids, more } = namesOf(finding, isDetailed);
  const mark = markOf(verdict, style)(verdict.padEnd(verdictWidth));
  const line = `${rule.id.padEnd(idWidth)}${mark}${rule.title.padEnd(titleWidth)} ${ids}`.trimEnd();
  const meaning = expectedText(verdict, expected);
  const expectation = meaning === undefined ? [] : wrap(meaning);
  if (verdict === 'pass') return [line, ...more, ...expectation];
  if (verdict === 'skipped') return [line, ...wrap(message).map((text) => style.dim(text))];
  const shown =
    verdict === 'observed' ? [] : evidence.slice(0, isDetailed ? evidence.length : shownExchanges);
  return [
    line,
    ...more,
    ...wrap(message),
    ...expectation,
    ...shown.flatMap((seen) => wrap(`${seen.id}: ${exchangeLine(seen)}`).map((text) => style.dim(text))),
  ];
}

/** The names of a finding's exchanges: after its title, or, if there is no room for them, on lines of their own. */
function namesOf(
  { verdict, evidence }: Judged['finding'],
  isDetailed: boolean,
): { ids: string; more: readonly string[] } {
  const columns = width - idWidth - verdictWidth - titleWidth - 1;
  if (verdict === 'skipped') return { ids: '', more: [] };
  const all = evidence.join(' ');
  if (isDetailed) return all.length > columns ? { ids: '', more: wrap(all) } : { ids: all, more: [] };
  return { ids: namesText(evidence, columns), more: [] };
}

/** Width of the names of exchanges on a page. */
const pageColumns = 60;

/** The names of exchanges in this many columns: `E1 X-1…X-60 +2` */
export function namesText(names: readonly string[], columns = pageColumns): string {
  const folded = foldNames(names);
  return idsText(folded.join(' ').length > columns ? foldNames(names, shortestFold) : folded, columns);
}

/** The shortest series that becomes one name: where there is room for all names, and where there is not. */
const usualFold = 4;
const shortestFold = 3;

/** Names of exchanges; a series of at least `shortest` becomes one name: `X-1…X-60`. */
export function foldNames(names: readonly string[], shortest = usualFold): string[] {
  const series: string[][] = [];
  for (const name of names) {
    const last = series.at(-1);
    if (last !== undefined && isNext(last.at(-1) ?? '', name)) last.push(name);
    else series.push([name]);
  }
  return series.flatMap((one) => (one.length < shortest ? one : [`${one[0]}…${one.at(-1)}`]));
}

function isNext(name: string, next: string): boolean {
  const number = /\d{1,9}$/.exec(name);
  return number !== null && next === `${name.slice(0, number.index)}${Number(number[0]) + 1}`;
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

/** The counts, the cost, why the run ended early, and how to see what failed. */
export function checkSummaryLines(
  { rules, verdicts, spent, elapsedMs, stopped, exitCode }: CheckResult,
  style: Style,
): string[] {
  const failed = rules.find((judged) => isFailed(judged, false))?.rule.id;
  return [
    '',
    ...stoppedLines(stopped),
    countsText(verdicts, style),
    spentLine({ spent, elapsedMs }),
    ...(failed === undefined && stopped === undefined && exitCode !== 0 ? [`${strictText}.`] : []),
    ...(failed === undefined
      ? []
      : [`To repeat the exchanges of a failed rule and print them in full: --again ${failed}`]),
  ];
}

/** What a run cost. */
export function spentLine({ spent, elapsedMs }: Pick<CheckResult, 'spent' | 'elapsedMs'>): string {
  return `${costText(spent)}, ${secondsText(elapsedMs, 1)}`;
}

export function costText({ tokens, plain, connections }: Cost): string {
  return `${countText(tokens, 'token request')}, ${plain} without a key, ${countText(connections, 'connection')}`;
}

/** The planned exchanges in order, and what they cost. */
export function planLines({ steps, cost, confirmCost, durationMs }: Plan, style: Style): string[] {
  const rows = steps.map(({ id, title, after }) => {
    const when = after === undefined ? '' : ` (${after.ms / 1000} s after ${after.step})`;
    return `${id.padEnd(9)}${title}${when}`;
  });
  return [
    ...rows,
    '',
    style.strong(`${costText(cost)}, about ${Math.round(durationMs / 1000)} s`),
    `Confirming failures may add: ${costText(confirmCost)}`,
    'Nothing was sent.',
  ];
}

/** One rule, as a line of JSON. */
export function ruleObject({ rule, finding, evidence, expected }: Judged) {
  return {
    type: 'rule',
    id: rule.id,
    title: rule.title,
    ...verdictJson({ rule, finding, evidence }),
    ...(expected === undefined ? {} : { expected }),
  };
}

/** One exchange of `--again`, complete. */
export function exchangeObject({ seen, step }: AskedAgain) {
  const { id, ...body }: ExchangeFields = exchangeJson(seen, true);
  return { type: 'exchange', id, step: step.id, title: step.title, ...body };
}

/** The fields of an exchange: a token request or a stream. */
type ExchangeFields = Pick<EvidenceJson, 'id' | 'at' | 'request' | 'answer' | 'error'> &
  Partial<Omit<Extract<EvidenceJson, { token: unknown }>, 'id' | 'at' | 'request' | 'answer' | 'error'>> &
  Partial<Omit<Extract<EvidenceJson, { close: unknown }>, 'id' | 'at' | 'request' | 'answer' | 'error'>>;

type SpentRun = Pick<CheckResult, 'verdicts' | 'spent' | 'stopped' | 'exitCode' | 'elapsedMs'> &
  Partial<Pick<AgainResult, 'leftOut'>>;

/** The last line. `requests`: all HTTP requests, with and without a key. `leftOut`: only with `--again`. */
export function checkSummaryObject({ verdicts, spent, stopped, leftOut, exitCode, elapsedMs }: SpentRun) {
  return {
    type: 'summary',
    version,
    verdicts,
    requests: spent.tokens + spent.plain,
    connections: spent.connections,
    cost: spent,
    stopped: stopped === undefined ? null : { code: stopped.code, message: stopped.message },
    ...(leftOut === undefined ? {} : { leftOut: Array.from(leftOut, ([step, why]) => ({ step, why })) }),
    elapsedMs: Math.round(elapsedMs),
    exitCode,
  };
}

/** The plan as one object. */
export function planObject({ steps, cost, confirmCost, durationMs }: Plan) {
  return {
    type: 'plan',
    version,
    steps: steps.map(({ id, title, level, cost: own, after }) => ({
      id,
      title,
      level,
      cost: own,
      after: after ?? null,
    })),
    cost,
    confirmCost,
    requests: totalOf(cost),
    durationMs: Math.round(durationMs),
  };
}
