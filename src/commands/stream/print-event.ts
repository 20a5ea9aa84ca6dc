import { escapeText, jsonLine } from '../../kernel/escape.ts';
import { kindCountsText } from '../../kernel/failure-kind.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { isWarning, sessionLines } from '../../report/session-lines.ts';
import type { Style } from '../../report/style.ts';
import { expectationRow, resultText } from '../../report/summary-lines.ts';
import { factLines } from '../../report/table-lines.ts';
import type {
  MetricSpread,
  RepeatEvent,
  RepeatSummary,
  SpreadMetric,
  TurnTakingCounts,
} from '../../runs/repeat.ts';
import type { CommandContext } from '../command.ts';

type Output = Pick<CommandContext<never>, 'io' | 'lines' | 'json' | 'quiet' | 'verbose' | 'style'>;

/** Writes an event to the chosen output, as JSON or as lines for people. */
export async function printEvent(
  event: RepeatEvent,
  { io, lines, json, quiet, verbose, style }: Output,
): Promise<void> {
  if (json) {
    await lines.write(jsonLine(event));
    return;
  }
  if (isOfSeveral(event)) {
    if (!quiet) for (const line of repeatLines(event, style)) await lines.write(`${line}\n`);
    return;
  }
  // For one of several sessions print only its line, unless the user asked for everything.
  const isWanted = !('run' in event) || verbose;
  if (isWarning(event) && quiet) {
    for (const line of sessionLines(event, style)) await io.stderr.write(`${line}\n`);
  } else if (!quiet && isWanted) {
    for (const line of sessionLines(event, style)) await lines.write(`${line}\n`);
  }
}

type RunEvent = Extract<RepeatEvent, { type: 'run' }>;
type TotalEvent = Extract<RepeatEvent, { type: 'summary'; runs: number }>;

/** Whether an event belongs to a single session, and not to several. */
function isOfSeveral(event: RepeatEvent): event is RunEvent | TotalEvent {
  return event.type === 'run' || (event.type === 'summary' && 'runs' in event);
}

/** A run as one line, and the result of all runs as a table. */
function repeatLines(event: RunEvent | TotalEvent, style: Style): string[] {
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
  responseMs: 'response',
  yieldMs: 'yield',
  overlapMs: 'overlap',
  talkOverMs: 'talk-over',
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
