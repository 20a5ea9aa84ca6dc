import { countText, percentText } from '../protocol/count-text.ts';
import type {
  HistogramBar,
  LoadSummary,
  MetricSummary,
  SecondSummary,
  SecondTimes,
} from '../runs/load/summary.ts';
import { addBaseline, type BaselineResult } from './compare-page.ts';
import { type Html, html } from './html.ts';
import { failureOf, loadPlanLines, measuredText, msText } from './load-lines.ts';
import {
  itemSections,
  linesBlock,
  type ReportItem,
  type ReportPage,
  reportPage,
  wideTable,
} from './report-page.ts';
import { plainStyle } from './style.ts';

/** Inline, so that the page needs nothing else. */
const style = `
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem 2rem } .charts > div { min-width: 0 }
svg { width: 100%; height: auto } svg text { font-size: 11px; fill: currentColor }
.axis { stroke: currentColor; opacity: .4 } .bar { fill: var(--blue) } .open { fill: var(--bad) }
.line { fill: none; stroke: currentColor; stroke-width: 1.5 } .line.good { color: var(--good) } .line.bad { color: var(--bad) } .line.note { color: var(--note) }
.legend { margin: 0 } .legend .good { color: var(--good) } .legend .bad { color: var(--bad) } .legend .note { color: var(--note) }
`;

/** A result, and how it compares with a baseline, as one page that needs nothing else: no network and no script. */
export function loadPage(summary: LoadSummary, baseline?: BaselineResult): string {
  return reportPage(addBaseline(ownPage(summary), baseline));
}

function ownPage(summary: LoadSummary): ReportPage {
  const { facts, metrics, seconds, counts } = summary;
  return {
    title: `voicectl load ${facts.target}`,
    heading: `${facts.target} under load`,
    verdict: verdictOf(summary),
    facts: [
      ['task', facts.task],
      ['arrival', facts.arrival],
      ['sessions', String(facts.cost.sessions)],
      ['arrived', String(counts.arrived)],
      ['failed', String(counts.failed + counts.dropped)],
      ['began', new Date(facts.startAt).toISOString()],
    ],
    body: html`${itemSections(itemsOf(summary), 'threshold')}
<h2>Times</h2>
${timesTable(metrics)}
<h2>Over time</h2>
<div class="charts">${seriesChart('Sessions', seconds, { lines: sessionLines, format: (value) => String(Math.round(value)) })}
${metrics.filter(({ count }) => count > 1).map(({ metric }) => timeSeries(metric, seconds, ({ times }) => times[metric]))}
${timeSeries('Sent late', seconds, ({ late }) => late ?? undefined)}</div>
<h2>Distributions</h2>
<div class="charts">${metrics.map(({ metric, bars }) => html`<div><h3>${metric}</h3>${distributionChart(metric, bars)}</div>`)}</div>
${countsTable(summary)}
<details class="fold"><summary><h2>The plan</h2></summary>${linesBlock(loadPlanLines(facts, plainStyle), 'The plan')}</details>`,
    remark: 'The red part of a bar shows steps that did not finish; their time is a lower bound.',
    style,
  };
}

function verdictOf(summary: LoadSummary): ReportPage['verdict'] {
  const { invalid, stopped, thresholds } = summary;
  const early = stopped === null ? '' : ` Ended early: ${stopped}.`;
  const failure = failureOf(summary);
  if (failure?.is === 'not-valid') {
    const more = invalid.length === 1 ? '' : `, and ${countText(invalid.length - 1, 'more reason')}`;
    const text = `Nothing can be said about the service: ${invalid[0]}${more}.${early}`;
    return { tone: 'bad', word: 'Not valid', text };
  }
  if (failure !== undefined) {
    const which = failure.is === 'crossed' ? `: ${failure.crossed.map(({ text }) => text).join('; ')}` : '';
    return { tone: 'bad', word: 'Failed', text: `${failure.text}${which}.${early}` };
  }
  const valid = 'The measurement is valid: this machine was not the bottleneck.';
  if (stopped !== null) return { tone: 'note', word: 'Ended early', text: `${stopped}. ${valid}` };
  return thresholds.length === 0
    ? { tone: 'muted', word: 'Measured', text: `${valid} No threshold was set.` }
    : { tone: 'good', word: 'Passed', text: `All ${thresholds.length} thresholds hold. ${valid}` };
}

function itemsOf({ thresholds, invalid }: LoadSummary): ReportItem[] {
  return [
    ...invalid.map(
      (message, index): ReportItem => ({
        id: `invalid-${index + 1}`,
        title: message,
        tone: 'bad',
        verdict: 'not valid',
        message: '',
      }),
    ),
    ...thresholds.map((threshold, index): ReportItem => {
      const verdict = threshold.holds ? 'pass' : 'fail';
      return {
        ...{ id: `threshold-${index + 1}`, title: threshold.text, verdict },
        tone: threshold.holds ? 'good' : 'bad',
        message: `measured ${measuredText(threshold)}`,
      };
    }),
  ];
}

const sessionLines = [
  { name: 'open', class: 'main', value: ({ open }: SecondSummary) => open },
  { name: 'arrived', class: 'good', value: ({ counts }: SecondSummary) => Math.max(0, counts.arrived) },
  { name: 'failed', class: 'bad', value: ({ counts }: SecondSummary) => counts.failed + counts.dropped },
];

function timeSeries(
  title: string,
  seconds: readonly SecondSummary[],
  read: (second: SecondSummary) => SecondTimes | undefined,
): Html {
  const line = (name: keyof SecondTimes, kind: string) => ({
    name,
    class: kind,
    value: (second: SecondSummary) => read(second)?.[name],
  });
  const lines = [line('p50', 'main'), line('p95', 'note'), line('max', 'bad')];
  return seriesChart(title, seconds, { lines, format: msText });
}

function timesTable(metrics: readonly MetricSummary[]): Html {
  const names = Object.keys(metrics[0]?.statistics ?? {}) as (keyof MetricSummary['statistics'])[];
  return wideTable(
    'Times',
    ['metric', 'count', ...names, 'unfinished'],
    metrics.map(({ metric, count, unfinished, statistics }) => [
      metric,
      count,
      ...names.map((name) => `${statistics[name].isLowerBound ? '≥ ' : ''}${msText(statistics[name].ms)}`),
      unfinished,
    ]),
    'figures',
  );
}

function countsTable({ counts, failures, lateMs, generators }: LoadSummary): Html {
  const cores = generators.map(
    ({ name, core, lost }) =>
      `${name}: ${core === null ? 'not measured' : percentText(core)}${lost === null ? '' : `, lost (${lost})`}`,
  );
  const rows: [string, string][] = [
    ...Object.entries(counts).map(([name, count]): [string, string] => [name, String(count)]),
    ...Object.entries(failures).map(([kind, count]): [string, string] => [`failed: ${kind}`, String(count)]),
    ['sent late, p99', msText(lateMs.p99)],
    ['core use of each generator', cores.join('; ')],
  ];
  return html`<details class="fold"><summary><h2>Counts</h2></summary>${wideTable('Counts', [], rows)}</details>`;
}

const width = 720;
const height = 160;
const left = 64;
const bottom = 24;
const top = 8;

/** A distribution: bars of equal width on a logarithmic axis of time. What did not finish is on top. */
function distributionChart(name: string, bars: readonly HistogramBar[]): Html {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const each = (width - left) / bars.length;
  const up = (count: number) => (count / most) * (height - top);
  return frame(`Distribution of ${name}`, [
    ...bars.map(({ fromMs, toMs, count, unfinished }, index) => {
      const x = round(left + index * each);
      const w = round(Math.max(1, each - 1));
      const finished = up(count - unfinished);
      return html`<g><title>${msText(fromMs)} – ${msText(toMs)}: ${count}</title>
<rect class="bar" x="${x}" y="${round(height - finished)}" width="${w}" height="${round(finished)}"/>
<rect class="open" x="${x}" y="${round(height - up(count))}" width="${w}" height="${round(up(count) - finished)}"/></g>`;
    }),
    ...logTicks(bars).map(({ at, ms }) => tick(left + at * (width - left), msText(ms))),
    level(most, String(most)),
  ]);

  function level(value: number, text: string): Html {
    return html`<text x="${left - 6}" y="${round(height - up(value) + 10)}" text-anchor="end">${text}</text>`;
  }
}

/** The powers of ten, and two and five times them, within the bars; `at` is from 0 to 1. */
function logTicks(bars: readonly HistogramBar[]): { at: number; ms: number }[] {
  const [low, high] = [bars[0]?.fromMs ?? 1, bars.at(-1)?.toMs ?? 1];
  const decades = Array.from({ length: 12 }, (_, index) => 10 ** (index - 4));
  const all = decades
    .flatMap((decade) => [decade, 2 * decade, 5 * decade])
    .filter((ms) => ms > low && ms < high);
  if (all.length < 2) {
    return [
      { at: 0, ms: low },
      { at: 0.9, ms: high },
    ];
  }
  return all.map((ms) => ({ at: Math.log(ms / low) / Math.log(high / low), ms }));
}

/** One line of a chart over time. */
interface Line {
  name: string;
  class: string;
  value: (second: SecondSummary) => number | undefined;
}

/** Lines over the seconds of a run. A second without a value is a gap in its line. */
function seriesChart(
  title: string,
  seconds: readonly SecondSummary[],
  { lines, format }: { lines: readonly Line[]; format: (value: number) => string },
): Html {
  const values = lines.map(({ value }) => seconds.map(value));
  // A run of hours has more values than a call may have arguments.
  const most = values.flat().reduce<number>((max, value = 0) => Math.max(max, value), 1e-9);
  const x = (index: number) => round(left + (index / Math.max(1, seconds.length - 1)) * (width - left - 4));
  const y = (value: number) => round(height - (value / most) * (height - top));
  return html`<div><h3>${title}</h3>
<p class="legend">${lines.map(({ name, class: kind }) => html`<span class="${kind}">■</span> ${name} `)}</p>
${frame(title, [
  ...lines.map(({ class: kind }, line) => {
    let isDown = true;
    const path = (values[line] ?? []).map((value, index) => {
      if (value === undefined) {
        isDown = true;
        return '';
      }
      const move = isDown ? 'M' : 'L';
      isDown = false;
      return `${move}${x(index)} ${y(value)}`;
    });
    // A single point is a dot.
    return html`<path class="line ${kind}" d="${path.join('')}" stroke-linecap="round"/>`;
  }),
  html`<text x="${left - 6}" y="${top + 10}" text-anchor="end">${format(most)}</text>`,
  html`<text x="${left - 6}" y="${height}" text-anchor="end">0</text>`,
  tick(left, '0 s'),
  tick(width - 24, `${seconds.length} s`),
])}</div>`;
}

function frame(title: string, parts: readonly Html[]): Html {
  return html`<svg viewBox="0 0 ${width} ${height + bottom}" role="img" aria-label="${title}">
<line class="axis" x1="${left}" y1="${height}" x2="${width}" y2="${height}"/>
${parts}
</svg>
`;
}

function tick(x: number, text: string): Html {
  return html`<text x="${round(x)}" y="${height + 16}" text-anchor="middle">${text}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
