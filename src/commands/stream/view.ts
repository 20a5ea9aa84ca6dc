import type { streamOptions } from '../../config/options.ts';
import type { RepeatEvent } from '../../runs/repeat.ts';
import type { CommandContext } from '../command.ts';
import type { LiveEnds } from './live-ends.ts';
import { printEvent } from './print-event.ts';

export type StreamContext = CommandContext<(typeof streamOptions)[number]>;

/** Begins a session, or several. `enough` ends its source early; the signal ends all of it. */
export type BeginSession = (signal: AbortSignal, enough?: AbortSignal) => AsyncIterable<RepeatEvent>;

/** Shows a session to whoever asked for it: on a screen, as lines, or as JSON. */
export interface StreamView {
  /** Whether the events of single frames are wanted. */
  readonly isDetailed: boolean;
  /** Runs a session to its end, and throws what it failed with. */
  run(begin: BeginSession): Promise<void>;
  /** The devices of the session, where it has any: keys act on them from now on. */
  attach(live: LiveEnds | undefined): void;
  /** Something for people that is no event. */
  note(text: string): Promise<void>;
  close(): Promise<void>;
}

/** One line, or a few, an event; with `--json` its object. */
export function createStreamLines(context: StreamContext): StreamView {
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
