import { escapeText, jsonLine } from '../../kernel/escape.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { isWarning, sessionLines } from '../../report/session-lines.ts';
import type { Style } from '../../report/style.ts';
import { summaryMsText } from '../../report/summary-lines.ts';
import { totalLines } from '../../report/total-lines.ts';
import type { RepeatEvent } from '../../runs/repeat.ts';
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
  const facts = `${secondsText(elapsedMs, 1)}, first audio ${summaryMsText(firstAudioMs)}, received ${secondsText(event.in.audioMs)}`;
  const why = failure === null ? '' : `  ${failure.kind}: ${escapeText(failure.message)}`;
  return `${style.dim(name)}  ${result}  ${facts}${why}`;
}
