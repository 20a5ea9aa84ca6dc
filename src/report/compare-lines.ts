import { escapeText } from '../kernel/escape.ts';
import { countText, percentText } from '../protocol/count-text.ts';
import type {
  Change,
  ComparedSide,
  FigureChange,
  ItemChange,
  RunComparison,
} from '../runs/compare/compare-runs.ts';
import { fewestRuns } from '../runs/compare/run-set.ts';
import { msText } from './load-lines.ts';
import type { Style } from './style.ts';
import { columnLines } from './table-lines.ts';

/** The result of a comparison in one sentence. */
export function comparisonText(comparison: RunComparison): string {
  const { kind, a, figures, items, verdict, unchanged } = comparison;
  const count = (change: Change, noun: string) =>
    countText([...figures, ...items].filter((one) => one.change === change).length, noun);
  const noun =
    kind === 'dialect' ? 'setting' : kind === 'check' ? 'rule' : kind === 'drill' ? 'situation' : 'figure';
  switch (verdict) {
    case 'worse': {
      const isKnown = figures.some(({ change, isNoiseKnown }) => change === 'worse' && isNoiseKnown);
      const by = isKnown ? 'beyond the noise' : 'by more than is allowed';
      return `${count('worse', noun)} got worse${noun === 'figure' ? ` ${by}` : ''}`;
    }
    case 'changed':
      return `${count('changed', noun)} ${items.length === 1 ? 'differs' : 'differ'}`;
    case 'better': {
      const unknown = figures.filter(({ change }) => change === 'unknown').length;
      if (unknown === 0) return `nothing got worse; ${count('better', noun)} got better`;
      const better = figures.filter(({ change }) => change === 'better').length;
      return `${better} of ${countText(figures.length, noun)} got better, none got worse; ${unknown} cannot be judged`;
    }
    case 'not valid':
      return 'one of the two is not valid: no comparison is possible';
    case 'unknown': {
      if (noun !== 'figure') return `${count('unknown', noun)} can no longer be judged`;
      const isNew =
        a.runs < fewestRuns && figures.some(({ noise, isNoiseKnown }) => noise !== null && !isNoiseKnown);
      const why = isNew
        ? [
            `${a.name} has ${countText(a.runs, 'run')}, too few to know how much runs vary; at least ${fewestRuns} are needed`,
          ]
        : new Set(figures.length === 0 ? ['there are no figures'] : figures.map((one) => one.why));
      return `cannot tell whether it got worse: ${[...why].join('; ')}`;
    }
    case 'same':
      if (noun === 'figure') return `not worse: ${withinText(figures)}`;
      if (noun === 'setting') return `all ${countText(unchanged, noun)} are the same`;
      return `not worse: ${countText(unchanged, noun)} as before`;
  }
}

/** How many figures are within the noise; those that cannot be judged are counted separately. */
function withinText(figures: readonly FigureChange[]): string {
  const judged = figures.filter(({ change }) => change !== 'unknown');
  const isAllowed = ({ tolerance, isNoiseKnown, difference, noise }: FigureChange) =>
    tolerance !== null && (!isNoiseKnown || (difference ?? 0) > (noise ?? 0));
  const within = `${judged.length === 1 ? 'is' : 'are'} within the noise${judged.some(isAllowed) ? ' or what is allowed' : ''}`;
  const all = countText(figures.length, 'figure');
  if (judged.length === figures.length) return `${figures.length === 1 ? '' : 'all '}${all} ${within}`;
  return `${judged.length} of ${all} ${within}; ${figures.length - judged.length} cannot be judged`;
}

/** A comparison for people: the verdict, and what got worse first. */
export function compareLines(comparison: RunComparison, style: Style): string[] {
  const { a, b, invalid, items, unchanged, verdict } = comparison;
  return [
    `${markOf(verdict, style)} ${escapeText(comparisonText(comparison))}`,
    `${style.dim('before'.padEnd(markWidth))} ${sideText(a)}`,
    `${style.dim('now'.padEnd(markWidth))} ${sideText(b)}`,
    ...invalid.map((why) => `${style.bad('INVALID'.padEnd(markWidth))} ${escapeText(why)}`),
    ...figureLines(comparison, style),
    ...items.flatMap((item) => itemLines(item, style)),
    ...(items.length > 0 && unchanged > 0 ? [style.dim(`${unchanged} as before`)] : []),
  ];
}

const markWidth = 8;

export function markText(verdict: RunComparison['verdict']): string {
  return {
    worse: 'WORSE',
    changed: 'CHANGED',
    unknown: 'unknown',
    better: 'better',
    same: 'same',
    'not valid': 'INVALID',
  }[verdict];
}

function markOf(verdict: RunComparison['verdict'], style: Style): string {
  return style[toneOf(verdict)](markText(verdict).padEnd(markWidth));
}

/** The tone of a change; a bad one fails. */
export function toneOf(verdict: RunComparison['verdict']): 'good' | 'note' | 'bad' {
  if (verdict === 'better' || verdict === 'same') return 'good';
  return verdict === 'unknown' ? 'note' : 'bad';
}

/** A side: its name, what was measured, how many runs and when. */
export function sideText({ name, subject, runs, from, to }: ComparedSide): string {
  const day = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  const [first, last] = [from === null ? '' : day(from), to === null ? '' : day(to)];
  const when = first === '' ? '' : first === last ? `, ${first}` : `, ${first} to ${last}`;
  const of = subject === '' ? '' : `: ${subject}`;
  return escapeText(`${name}${of}${runs > 1 ? `, ${runs} runs` : ''}${when}`);
}

/** The columns of a table of figures. */
export const figureHead = ['figure', 'before', 'now', 'difference', 'noise up to'] as const;

/** The cells of a figure below these columns. */
export function figureCells(figure: FigureChange): string[] {
  const { name, a, b, isLowerBound, difference, noise, isNoiseKnown, tolerance, why } = figure;
  const value = (one: number | null) =>
    one === null
      ? '–'
      : name === 'failed'
        ? percentText(one, 2)
        : name.includes('/')
          ? one.toPrecision(3)
          : msText(one);
  const more = (one: number | null) =>
    one === null ? '–' : name === 'failed' ? `${(one * 100).toFixed(2)} points` : changeText(one);
  const isWithin = noise !== null && !isNoiseKnown;
  const allowed = tolerance === null ? '' : `; allowed ${tolerance.replace(name, '')}`;
  return [
    name,
    value(a),
    `${isLowerBound ? '≥ ' : ''}${value(b)}`,
    difference === null ? '–' : `${difference > 0 && difference <= 2 ? '+' : ''}${more(difference)}`,
    `${noise === null ? 'not known' : more(noise)}${isWithin ? ' within the runs' : ''}${allowed}${why === null ? '' : `; ${why}`}`,
  ];
}

/** `4.1 %`; large changes as a factor: `12 times`. Larger factors would be too imprecise. */
function changeText(change: number): string {
  const times = change + 1;
  if (times > 100) return 'over 100 times';
  return change > 2 ? `${times >= 10 ? Math.round(times) : times.toFixed(1)} times` : percentText(change, 1);
}

function figureLines({ figures }: RunComparison, style: Style): string[] {
  if (figures.length === 0) return [];
  const rows = [figureHead, ...figures.map(figureCells)];
  const [head = '', ...lines] = columnLines(rows, (column) => column === 0 || column === 4);
  return [
    '',
    `${' '.repeat(markWidth + 1)}${style.dim(head)}`,
    ...lines.map((line, index) => `${markOf(figures[index]?.change ?? 'same', style)} ${line}`),
  ];
}

/** `pass → fail`. */
export function itemText({ a, b }: ItemChange): string {
  return `${a ?? 'nothing'} → ${b ?? 'nothing'}`;
}

function itemLines(item: ItemChange, style: Style): string[] {
  const { id, title, message, change } = item;
  const head = `${markOf(change, style)} ${id}  ${escapeText(itemText(item))}${title === '' ? '' : `  ${escapeText(title)}`}`;
  return message === '' ? [head] : [head, `${' '.repeat(markWidth + 1)}${style.dim(escapeText(message))}`];
}
