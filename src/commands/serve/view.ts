import type { ServedEmulator } from '../../cluster/processes/messages.ts';
import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { emulatorLines } from '../../report/emulator-lines.ts';
import { createNotePrinter, createPrinter, lossText } from '../../report/printer.ts';
import { foldRepeats } from '../../report/repeats.ts';
import { type StartFacts, startLines } from '../../report/start-lines.ts';
import { plainStyle, type Style } from '../../report/style.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import type { CommandContext } from '../command.ts';

export type ServeContext = CommandContext<'reply' | 'scenario' | 'ascii'>;

export interface ServeFacts extends Pick<StartFacts, 'key' | 'forwarded'> {
  /** The command in the head of a screen; default: `serve`. */
  command?: string | undefined;
  /** What the head of a screen says in place of the command and who speaks. A proxy has no clock to move. */
  head?: { command: string; subject: string };
  /** The first lines; default: the lines of an emulator. */
  linesOf?: (event: EmulatorEvent & { type: 'listening' }, running: RunningFacts, style: Style) => string[];
}

/** What is shown: an emulator, or a proxy. */
export type ShownEmulator = Pick<ServedEmulator, 'baseUrl' | 'wsUrl' | 'certificate' | 'control'>;

/** The facts about a running emulator: how curl may trust its certificate, and where its page is. */
export type RunningFacts = Pick<StartFacts, 'trust' | 'page'>;

/** Shows an emulator to the user: on a screen, as lines, or as JSON. */
export interface ServeView {
  show(event: EmulatorEvent): void;
  /** Shows a message for the user that is not an event. */
  note(text: string): Promise<void>;
  /** Called once the emulator runs, before its first event is shown. */
  attach(emulator: ShownEmulator, facts: RunningFacts): void;
  /** Resolves when the view wants the emulator to end; rejects if it ends with an error. */
  readonly ended: Promise<unknown>;
  /** Called when the emulator is closed. Throws if something could not be shown. */
  close(): Promise<void>;
}

/** A request to end is not a failure of `serve`, but unread lines are. */
function refuseLoss(thrown: unknown): never {
  const { code } = toVoicectlError(thrown);
  if (code === 'input-output' || code === 'closed-pipe') throw thrown;
  throw new VoicectlError('input-output', 'Cannot write to standard output: it was closed', {
    cause: thrown,
  });
}

/** One line per event; with `--json` its object. */
export function createServeLines(context: ServeContext, facts: ServeFacts): ServeView {
  const { settings, io, json, quiet, style, warn } = context;
  const printer = createPrinter(io.stdout, (count) =>
    json ? jsonLine({ type: 'left-out', count }) : `${lossText(count, 'standard output')}\n`,
  );
  const warnings = createNotePrinter(warn);
  const speakers = { reply: settings.reply, scenario: settings.scenario };
  let running: RunningFacts = {};
  const linesOf = (event: EmulatorEvent, again?: string) =>
    event.type === 'listening'
      ? (facts.linesOf?.(event, running, style) ??
        startLines(event, { ...speakers, ...facts, ...running }, style))
      : emulatorLines(event, style, again);
  const repeats = foldRepeats(io.clock, (event, again) => {
    if (!quiet) for (const line of linesOf(event, again)) printer.print(`${line}\n`);
    else if (event.level === 'warning')
      for (const line of emulatorLines(event, plainStyle, again)) warnings.print(line);
  });
  return {
    show(event) {
      const { page } = event.type === 'listening' ? running : {};
      if (json) printer.print(jsonLine(page === undefined ? event : { ...event, page }));
      else repeats.print(event);
    },
    note: context.note,
    attach(_emulator, known) {
      running = known;
    },
    ended: printer.failed,
    async close() {
      repeats.flush();
      await warnings.flush();
      await printer.flush().catch(refuseLoss);
    },
  };
}
