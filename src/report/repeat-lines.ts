import { escapeText } from '../kernel/escape.ts';
import { kindCountsText } from '../kernel/failure-kind.ts';
import type { MetricSpread, RepeatEvent, RepeatSummary, SpreadMetric } from '../runs/repeat.ts';
import { secondsText } from './event-words.ts';
import type { Style } from './style.ts';
import { resultText } from './summary-lines.ts';

type RunEvent = Extract<RepeatEvent, { type: 'run' }>;
type TotalEvent = Extract<RepeatEvent, { type: 'summary'; runs: number }>;

/** Whether an event belongs to a single session, and not to several. */
export function isOfSeveral(event: RepeatEvent): event is RunEvent | TotalEvent {
  return event.type === 'run' || (event.type === 'summary' && 'runs' in event);
}

/** A run as one line, and the result of all runs as a table. */
export function repeatLines(event: RunEvent | TotalEvent, style: Style): string[] {
  return event.type === 'run' ? [runLine(event, style)] : ['', ...totalLines(event, style)];
}

function runLine(event: RunEvent, style: Style): string {
  const { run, warmup, failure, elapsedMs, firstAudioMs } = event;
  const name = `${warmup ? 'warm-up' : 'run'} ${run}`.padEnd(10);
  const result = failure === null ? style.good('pass') : style.bad('FAIL');
  const firstAudio = firstAudioMs === null ? '–' : `${firstAudioMs} ms`;
  const facts = `${secondsText(elapsedMs, 1)}, first audio ${firstAudio}, received ${secondsText(event.in.audioMs)}`;
  const why = failure === null ? '' : `  ${failure.kind}: ${escapeText(failure.message)}`;
  return `${style.dim(name)}  ${result}  ${facts}${why}`;
}

const spreadNames: Record<SpreadMetric, string> = {
  elapsedMs: 'whole run',
  tokenMs: 'token',
  connectMs: 'connect',
  authoriseMs: 'confirmed',
  firstAudioMs: 'first audio',
  longestGapMs: 'longest gap',
  jitterP95Ms: 'jitter, p95',
  audioMs: 'AI audio',
  sendLatenessP95Ms: 'sent late, p95',
};

function totalLines(summary: RepeatSummary, style: Style): string[] {
  const { device, runs, passed, passRate, warmup, failures, failure, verdicts } = summary;
  const warmups = warmup === 0 ? '' : `, after ${warmup} warm-up runs`;
  const rows: [string, string][] = [
    ['device', escapeText(device)],
    ['runs', `${passed} of ${runs} passed (${(passRate * 100).toFixed(1)} %)${warmups}`],
    ...(failure === null ? [] : [['failures', kindCountsText(failures)] satisfies [string, string]]),
    ...Object.entries(spreadNames).map(([name, shown]): [string, string] => [
      shown,
      spreadText(summary.spread[name as SpreadMetric]),
    ]),
    ...verdicts.map(({ name, ok, expected, measured }): [string, string] => [
      name,
      `${ok ? style.good('pass') : style.bad('FAIL')}: expected ${escapeText(expected)}, held in ${escapeText(measured)}`,
    ]),
    ['result', resultText(summary, style)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${style.dim(name.padEnd(width))}  ${value}`);
}

function spreadText(spread: MetricSpread | null): string {
  if (spread === null) return '–';
  const { min, median, p95, max } = spread;
  return `min ${min} ms, median ${median} ms, p95 ${p95} ms, max ${max} ms`;
}
