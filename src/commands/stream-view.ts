import type { streamOptions } from '../config/options.ts';
import { jsonLine } from '../escape.ts';
import { isWarning, sessionLines } from '../report/session-lines.ts';
import type { SessionEvent } from '../session/events.ts';
import { foldAudio } from '../session/fold-audio.ts';
import type { CommandContext } from './command.ts';

export type StreamContext = CommandContext<(typeof streamOptions)[number]>;

/** Begins a session. `enough` ends its source early; the signal ends all of it. */
export type BeginSession = (
  signal: AbortSignal,
  enough?: AbortSignal,
) => Promise<AsyncIterable<SessionEvent>>;

/** Shows a session to whoever asked for it: on a screen, as lines, or as JSON. */
export interface StreamView {
  /** Runs a session to its end, and throws what it failed with. */
  run(begin: BeginSession): Promise<void>;
  close(): Promise<void>;
}

/** One line, or a few, an event; with `--json` its object. */
export function createStreamLines({
  lines,
  io,
  json,
  quiet,
  verbose,
  style,
  signal,
}: StreamContext): StreamView {
  const write = async (event: SessionEvent) => {
    if (json) await lines.write(jsonLine(event));
    else if (!quiet) for (const line of sessionLines(event, style)) await lines.write(`${line}\n`);
    else if (isWarning(event)) {
      for (const line of sessionLines(event, style)) await io.stderr.write(`${line}\n`);
    }
  };
  return {
    async run(begin) {
      const events = await begin(signal);
      for await (const event of verbose ? events : foldAudio(events, 1_000)) {
        if (verbose || event.type !== 'figures') await write(event);
      }
    },
    close: async () => {},
  };
}
