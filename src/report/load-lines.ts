import { escapeText } from '../kernel/escape.ts';
import { kindCountsText } from '../kernel/failure-kind.ts';
import { version } from '../kernel/version.ts';
import { countText, percentText } from '../protocol/count-text.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { LoadFacts } from '../runs/load/result.ts';
import type { HistogramBar, LoadSummary, MetricSummary, SecondSummary } from '../runs/load/summary.ts';
import type { JudgedThreshold } from '../runs/load/thresholds.ts';
import type { Style } from './style.ts';
import { columnLines } from './table-lines.ts';

/** Why a run fails. `crossed`: thresholds that do not hold. */
export type LoadFailure =
  | { is: 'not-valid' }
  | { is: 'crossed'; crossed: readonly JudgedThreshold[]; text: string }
  | { is: 'unconfirmed'; text: string };

/** Undefined if the run passes. A run that is not valid says nothing about the service. */
export function failureOf({ invalid, thresholds, counts }: LoadSummary): LoadFailure | undefined {
  if (invalid.length > 0) return { is: 'not-valid' };
  const crossed = thresholds.filter(({ holds }) => !holds);
  if (crossed.length > 0)
    return { is: 'crossed', crossed, text: `${crossed.length} of ${thresholds.length} thresholds crossed` };
  if (counts.arrived > 0 && counts.confirmed === 0)
    return {
      is: 'unconfirmed',
      text:
        counts.arrived === 1
          ? 'The session was not confirmed'
          : `None of ${counts.arrived} sessions was confirmed`,
    };
  return undefined;
}

/** What a run does and what it costs, before it starts. */
export function loadPlanLines({ target, task, arrival, seed, cost }: LoadFacts, style: Style): string[] {
  const { sessions, tokens, devices, audioMinutes, arrivalsMs, longestMs } = cost;
  return [
    `${style.strong('load')}     ${escapeText(target)}: ${task}, ${escapeText(arrival)}, seed ${seed}`,
    `${style.dim('plan')}     ${countText(sessions, 'session')} within ${durationText(arrivalsMs)}, at most ${durationText(longestMs)} in all`,
    `${style.dim('cost')}     at most ${countText(tokens, 'token')}, ${countText(devices, 'device')}, ${countText(audioMinutes, 'minute')} of audio sent`,
  ];
}

/** The line that shows the progress of a run. */
export function loadProgressText(
  { second, counts, open, times }: SecondSummary,
  core: number | undefined,
): string {
  const firstAudio = times['first-audio'];
  return [
    `${second + 1} s`,
    `${counts.arrived} arrived`,
    `${open} open`,
    `${counts.done} done`,
    `${counts.failed + counts.dropped} failed`,
    ...(firstAudio === undefined ? [] : [`first audio p95 ${msText(firstAudio.p95)}`]),
    ...(core === undefined ? [] : [`core ${percentText(core)}`]),
  ].join(', ');
}

/** The result: a table of the times, the distribution of one of them, the counts and the verdicts. */
export function loadSummaryLines(summary: LoadSummary, style: Style): string[] {
  const { metrics, thresholds, invalid, stopped, generators } = summary;
  const shown =
    metrics.find(({ metric }) => metric === 'first-audio') ?? metrics.findLast(({ count }) => count > 1);
  return [
    ...table(metrics, style),
    ...(shown === undefined || shown.count < 2 ? [] : ['', ...histogramLines(shown, style)]),
    '',
    ...countLines(summary, style),
    ...thresholds.map((threshold) => thresholdLine(threshold, style)),
    ...(stopped === null ? [] : [`${style.note('stopped')}  ${escapeText(stopped)}`]),
    ...generators
      .filter(({ lost }) => lost !== null)
      .map(({ name }) => `${style.bad('lost')}     generator ${name}`),
    ...(invalid.length === 0
      ? [`${style.good('valid')}    this machine was not the bottleneck`]
      : invalid.map((why) => `${style.bad('INVALID')}  ${escapeText(why)}`)),
  ];
}

const columns = ['p50', 'p90', 'p95', 'p99', 'p99.9', 'max'] as const;

function table(metrics: readonly MetricSummary[], style: Style): string[] {
  const head = ['', 'count', ...columns, 'unfinished'];
  const rows = metrics.map(({ metric, count, unfinished, statistics }) => [
    metric,
    String(count),
    ...columns.map((name) => `${statistics[name].isLowerBound ? '≥ ' : ''}${msText(statistics[name].ms)}`),
    String(unfinished),
  ]);
  const [first = '', ...lines] = columnLines([head, ...rows], (column) => column === 0);
  return [style.dim(first), ...lines];
}

const histogramRows = 10;
const histogramWidth = 40;

/** The distribution of a metric, on a logarithmic axis. */
function histogramLines({ metric, bars }: MetricSummary, style: Style): string[] {
  const rows = joinBars(bars, histogramRows);
  const most = Math.max(...rows.map(({ count }) => count));
  const edges = rows.map(({ fromMs, toMs }) => `${msText(fromMs)} – ${msText(toMs)}`);
  const width = Math.max(...edges.map((text) => text.length));
  return [
    style.dim(`${metric}, on a logarithmic axis`),
    ...rows.map(({ count }, index) => {
      const bar = '█'.repeat(Math.ceil((count / most) * histogramWidth));
      return `${(edges[index] ?? '').padStart(width)}  ${bar}${bar === '' ? '' : ' '}${count}`;
    }),
  ];
}

/** Joins neighbouring bars so that at most `most` are left. */
function joinBars(bars: readonly HistogramBar[], most: number): HistogramBar[] {
  const per = Math.ceil(bars.length / most);
  return Array.from({ length: Math.ceil(bars.length / per) }, (_, index) => {
    const group = bars.slice(index * per, (index + 1) * per);
    const [first, last] = [group[0], group.at(-1)];
    return {
      fromMs: first?.fromMs ?? 0,
      toMs: last?.toMs ?? 0,
      count: group.reduce((sum, { count }) => sum + count, 0),
      unfinished: group.reduce((sum, { unfinished }) => sum + unfinished, 0),
    };
  });
}

export function countLines(
  { counts, failures, lateMs, generators, shards }: LoadSummary,
  style: Style,
): string[] {
  const { stopped, dropped, failed, framesHeld, framesMissed } = counts;
  const sessions = [
    `${counts.arrived} arrived`,
    `${counts.confirmed} confirmed`,
    `${counts.done} done`,
    `${failed} failed`,
    ...(stopped > 0 ? [`${stopped} stopped`] : []),
    ...(dropped > 0 ? [`${dropped} dropped`] : []),
  ];
  const held = framesHeld > 0 ? `, ${framesHeld} not sent because the service did not read` : '';
  const missed = framesMissed > 0 ? `, ${framesMissed} not sent because this machine stalled` : '';
  const cores = generators.flatMap(({ core }) => (core === null ? [] : [percentText(core)]));
  return [
    `${style.dim('sessions')} ${sessions.join(', ')}`,
    ...(failed > 0 ? [`${style.dim('failures')} ${kindCountsText(failures)}`] : []),
    `${style.dim('audio')}    ${counts.framesOut} frames sent${held}${missed}, ${counts.messagesIn} messages received`,
    `${style.dim('machine')}  sent late p50 ${msText(lateMs.p50)}, p99 ${msText(lateMs.p99)}, max ${msText(lateMs.max)}${cores.length === 0 ? '' : `; core ${cores.join(', ')}`}`,
    ...(shards.of > 1 ? [`${style.dim('shards')}   ${shards.has.join(', ')} of ${shards.of}`] : []),
  ];
}

function thresholdLine(threshold: JudgedThreshold, style: Style): string {
  const mark = threshold.holds ? style.good('pass') : style.bad('FAIL');
  return `${mark}     ${escapeText(thresholdText(threshold))}`;
}

/** A threshold with its measured value. */
export function thresholdText(threshold: JudgedThreshold): string {
  return `${threshold.text}: ${measuredText(threshold)}`;
}

/** The measured value of a threshold, in the unit of its limit. */
export function measuredText({ value, unit, isLowerBound }: JudgedThreshold): string {
  if (value === null) return 'nothing was measured';
  return `${isLowerBound ? '≥ ' : ''}${unitText(value, unit)}`;
}

export function thresholdLimitText({ limit, unit }: JudgedThreshold): string {
  return unitText(limit, unit);
}

function unitText(value: number, unit: JudgedThreshold['unit']): string {
  return unit === 'ms' ? msText(value) : unit === 'share' ? percentText(value, 2) : String(value);
}

/** Milliseconds with three digits; from ten seconds on, seconds. */
export function msText(ms: number): string {
  if (ms >= 10_000) return secondsText(ms, 1);
  if (ms >= 100) return `${Math.round(ms)} ms`;
  return `${ms >= 10 ? ms.toFixed(1) : ms.toFixed(2)} ms`;
}

function durationText(ms: number): string {
  return secondsText(ms, ms < 10_000 ? 1 : 0);
}

/** The plan as the first object of a run. */
export function loadPlanObject({ version: _, ...facts }: LoadFacts): object {
  return { type: 'plan', version, ...facts };
}

/** One second of a run. */
export function loadProgressObject(
  { second, counts, open, times, late }: SecondSummary,
  core: number | undefined,
): object {
  return { t: (second + 1) * 1000, type: 'progress', open, counts, times, late, core: core ?? null };
}

/** The result as the last object, without the series, which `--out` writes. */
export function loadSummaryObject({ seconds: _, ...summary }: LoadSummary, exitCode: number): object {
  const { metrics, invalid, ...rest } = summary;
  return {
    type: 'summary',
    ...rest,
    metrics: Object.fromEntries(metrics.map(({ metric, bars: _bars, ...values }) => [metric, values])),
    valid: invalid.length === 0,
    invalid,
    exitCode,
  };
}
