import { escapeText } from '../kernel/escape.ts';
import { kindCountsText } from '../kernel/failure-kind.ts';
import { countText, percentText } from '../protocol/count-text.ts';
import type { MetricSpread, RepeatSummary, SpreadMetric, TurnTakingCounts } from '../runs/repeat.ts';
import type { Style } from './style.ts';
import { expectationRow, resultText } from './summary-lines.ts';
import { factLines } from './table-lines.ts';

/** What is measured of several runs, as people read it. */
export const spreadNames: Record<SpreadMetric, string> = {
  elapsedMs: 'whole run',
  tokenMs: 'token',
  connectMs: 'connect',
  authoriseMs: 'confirmed',
  firstAudioMs: 'first audio',
  responseMs: 'response',
  yieldMs: 'yield',
  overlapMs: 'overlap',
  talkOverMs: 'talk-over',
  longestGapMs: 'longest gap',
  jitterP95Ms: 'jitter, p95',
  audioMs: 'AI audio',
  sendLatenessP95Ms: 'sent late, p95',
};

/** The result of several runs as a table. */
export function totalLines(summary: RepeatSummary, style: Style): string[] {
  const { device, runs, passed, passRate, warmup, failures, failure, verdicts } = summary;
  const warmups = warmup === 0 ? '' : `, after ${countText(warmup, 'warm-up run')}`;
  const rows: [string, string][] = [
    ['device', escapeText(device)],
    ['runs', `${passed} of ${runs} passed (${percentText(passRate, 1)})${warmups}`],
    ...(failure === null ? [] : [['failures', kindCountsText(failures)] satisfies [string, string]]),
    ...Object.entries(spreadNames).map(([name, shown]): [string, string] => [
      shown,
      spreadText(summary.spread[name as SpreadMetric]),
    ]),
    ['turn-taking', turnTakingText(summary.turnTaking)],
    ...verdicts.map((verdict) => expectationRow(verdict, style, 'held in')),
    ['result', resultText(summary, style)],
  ];
  return factLines(rows, style);
}

const turnTakingNames: Record<keyof TurnTakingCounts, string> = {
  earlyReplies: 'early replies',
  neverYields: 'never yielded',
  endedByItself: 'ended by itself',
  falseInterruptions: 'false interruptions',
  answersNoise: 'answered noise',
  repliesLost: 'lost replies',
  unanswered: 'unanswered',
};

/** `early replies × 2, lost replies × 1`; leaves out what was not scripted. */
function turnTakingText(counts: TurnTakingCounts): string {
  const found = Object.entries(turnTakingNames).flatMap(([name, text]) => {
    const count = counts[name as keyof TurnTakingCounts];
    return count === null || count === 0 ? [] : [`${text} × ${count}`];
  });
  if (found.length > 0) return found.join(', ');
  return Object.values(counts).every((count) => count === null) ? '–' : 'nothing went wrong';
}

function spreadText(spread: MetricSpread | null): string {
  if (spread === null) return '–';
  const { min, median, p95, max } = spread;
  return `min ${min} ms, median ${median} ms, p95 ${p95} ms, max ${max} ms`;
}
