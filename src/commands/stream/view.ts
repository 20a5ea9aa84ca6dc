import type { RepeatEvent } from '../../runs/repeat.ts';
import type { Tap } from '../../wire/tap.ts';
import type { ContextOf } from '../command.ts';
import type { LiveEnds } from './live-ends.ts';
import { printEvent } from './print-event.ts';

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
