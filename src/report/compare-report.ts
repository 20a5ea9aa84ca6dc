import { version } from '../kernel/version.ts';
import type { Change, RunComparison } from '../runs/compare/compare-runs.ts';
import {
  compareLines,
  comparisonText,
  figureCells,
  figureHead,
  itemText,
  markText,
  sideText,
  toneOf,
} from './compare-lines.ts';
import type { Block, RunReport, TestCase, TestSuite } from './run-report.ts';
import { plainStyle } from './style.ts';

/** A comparison as one object. */
export function comparisonObject(comparison: RunComparison, exitCode: number): object {
  const { verdict, ...rest } = comparison;
  return { type: 'comparison', version, verdict, text: comparisonText(comparison), ...rest, exitCode };
}

/** A comparison, for pipelines: a case for the whole, in error if one of the two is not valid, and one for each figure and each change. */
export function comparisonReport(comparison: RunComparison, { startedAt }: { startedAt: number }): RunReport {
  const { a, b, invalid, figures, items } = comparison;
  const name = `compare ${a.name} ${b.name}`;
  const classname = 'voicectl.compare';
  const common = { classname, seconds: 0 };
  const whole: TestCase = {
    ...common,
    name: 'comparison',
    ...(invalid.length === 0
      ? {}
      : { outcome: { element: 'error', type: 'not-valid', message: invalid.join('; ') } }),
    out: compareLines(comparison, plainStyle),
  };
  const each = [
    ...figures.map((figure) => ({
      name: figure.name,
      change: figure.change,
      text: figureText(figureCells(figure)),
    })),
    ...items.map((item) => ({
      name: item.id,
      change: item.change,
      text: `${itemText(item)} ${item.message}`.trim(),
    })),
  ];
  const cases = each.map(({ name, change, text }): TestCase => {
    if (toneOf(change) === 'bad')
      return { ...common, name, outcome: { element: 'failure', type: change, message: text }, out: [text] };
    return change === 'unknown'
      ? { ...common, name, outcome: { element: 'skipped', type: change, message: text }, out: [text] }
      : { ...common, name, out: [text] };
  });
  const suite: TestSuite = { name, startedAt, seconds: 0, properties: [], cases: [whole, ...cases] };
  return {
    name,
    suites: [suite],
    failures: [
      ...invalid.map((message) => ({ title: `${name}: not valid`, message })),
      ...each
        .filter(({ change }) => toneOf(change) === 'bad')
        .map(({ name: what, text, change }) => ({
          title: `${name}: ${change}`,
          message: `${what}: ${text}`,
        })),
    ],
    blocks: comparisonBlocks(comparison),
  };
}

/** The comparison for a step summary. */
function comparisonBlocks(comparison: RunComparison): Block[] {
  const { a, b, verdict, invalid, figures, items } = comparison;
  const mark = (change: Change) =>
    toneOf(change) === 'bad' ? { strong: markText(change) } : markText(change);
  return [
    [{ strong: markText(verdict) }, ` ${comparisonText(comparison)}`],
    [`Before: ${sideText(a)}. Now: ${sideText(b)}.`],
    ...invalid.map((why) => [why]),
    ...(figures.length === 0
      ? []
      : [{ head: ['', ...figureHead], rows: figures.map((one) => [mark(one.change), ...figureCells(one)]) }]),
    ...(items.length === 0
      ? []
      : [
          {
            head: ['', 'what', 'change', 'what was seen'],
            rows: items.map((one) => [mark(one.change), one.id, itemText(one), one.message]),
          },
        ]),
  ];
}

function figureText([, a, b, difference, noise]: readonly string[]): string {
  return `${a} → ${b} (${difference}, noise up to ${noise})`;
}

/** The report of a run, extended by the report of its comparison. */
export function withComparison(found: RunReport, compared: RunReport): RunReport {
  return {
    ...found,
    suites: [...found.suites, ...compared.suites],
    failures: [...found.failures, ...compared.failures],
    blocks: [...found.blocks, ...compared.blocks],
  };
}
