import { jsonLine } from '../../kernel/escape.ts';
import { isOfSeveral, repeatLines } from '../../report/repeat-lines.ts';
import { isWarning, sessionLines } from '../../report/session-lines.ts';
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
