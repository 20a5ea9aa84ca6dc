import { escapeText, jsonLine } from '../../kernel/escape.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { isWarning, sessionLines } from '../../report/session-lines.ts';
import type { Style } from '../../report/style.ts';
import { summaryMsText, totalLines } from '../../report/summary-lines.ts';
import type { RepeatEvent } from '../../runs/repeat.ts';
import type { Tap } from '../../wire/tap.ts';
import type { CommandContext, ContextOf } from '../command.ts';
import type { LiveEnds } from './live-ends.ts';

/** Starts one session or several. `enough` ends the source early; the signal ends the session. */
export type BeginSession = (signal: AbortSignal, enough?: AbortSignal) => AsyncIterable<RepeatEvent>;

/** Shows a session to the user: on a screen, as lines, or as JSON. */
export interface StreamView {
  /** Whether the view needs the events of single frames. */
  readonly isDetailed: boolean;
  /** What the view wants to see of the wire, if it does. */
  readonly tap?: Tap;
  /** Runs a session to its end. Throws its failure. */
  run(begin: BeginSession): Promise<void>;
  /** Gives the view the devices of the session, so that keys control them. */
  attach(live: LiveEnds | undefined): void;
  /** Shows a message for people that is not an event. */
  note(text: string): Promise<void>;
  close(): Promise<void>;
}

/** One or a few lines per event; with `--json` its object. */
export function createStreamLines(context: ContextOf<'stream'>): StreamView {
  const { verbose, signal } = context;
  return {
    isDetailed: verbose,
    async run(begin) {
      for await (const event of begin(signal)) {
        if (verbose || event.type !== 'figures') await printEvent(event, context);
      }
    },
    attach: (live) => live?.listenForKeys(),
    note: context.note,
    close: async () => {},
  };
}

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
