import { join } from 'node:path';
import { writeText } from '../../files/output-file.ts';
import { systemClock } from '../../kernel/clock.ts';
import { exitCodes, toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { version } from '../../kernel/version.ts';
import { speaksUnicode } from '../../report/style.ts';
import { startDrawThread } from '../../ui/draw-thread.ts';
import type { Action, Notice, ScreenStart } from '../../ui/port.ts';
import { openScreen, type ScreenEnd } from '../../ui/screen.ts';
import type { CommandContext } from '../command.ts';

/** The actions that every screen performs by itself. */
type OwnAction = Extract<Action, { type: 'quit' | 'copy' | 'copyCurl' | 'save' }>;

/** An action that only some commands have. */
export type CommandAction = Exclude<Action, OwnAction>;

export interface CommandScreenOptions<News extends { type: string }> {
  device: TerminalDevice;
  start: Omit<ScreenStart, 'version' | 'ascii'>;
  /** Merges two items that wait to be drawn; undefined if they cannot be merged. */
  fold: (before: News, news: News) => News | undefined;
  /** The curl command that requests a token. */
  curl?: () => string;
  /** Called for the first `q` instead of ending at once. */
  onQuit?: () => void;
  /** Performs the other actions. The user sees the message of a failure. */
  onAction?: (action: CommandAction) => Promise<void> | void;
  /** The screen has ended by itself but the command continues: plain lines follow. */
  onLost?: () => void;
}

export interface CommandScreen<News> {
  /** Aborted with a `VoicectlError` when the user quits (`interrupted`) or the terminal is gone (`input-output`). */
  readonly signal: AbortSignal;
  /** Whether the screen has ended by itself. */
  readonly isLost: boolean;
  /** Whether the user has pressed a key. */
  readonly isTouched: boolean;
  show(news: News | Notice): void;
  /** Shows a message to the user, on the screen or on standard error. */
  say(text: string, options?: Pick<Notice, 'stays'>): void;
  /** Sets the origin of the times on the screen to a moment of the clock. */
  startAt(now: number): void;
  /** Ends the command. The next `q` ends the process at once. */
  quit(): void;
  /** Restores the terminal. */
  close(): Promise<void>;
}

/** Opens the screen of a command: every command has the same start, keys, end, and fallback to plain lines. */
export function openCommandScreen<News extends { type: string }>(
  { settings, io, colour, drawThread, note }: CommandContext<'ascii'>,
  options: CommandScreenOptions<News>,
): CommandScreen<News> {
  const quitting = new AbortController();
  let isLost = false;
  const screen = openScreen<News>({
    device: options.device,
    clock: systemClock,
    thread: drawThread ?? startDrawThread({ colour }),
    start: { ...options.start, version, ascii: settings.ascii ?? !speaksUnicode(io.env) },
    fold: options.fold,
    onAction: (action) => void perform(action).catch((thrown) => say(toVoicectlError(thrown).message)),
    onEnd,
  });
  const quit = () => quitting.abort(new VoicectlError('interrupted', 'Interrupted'));

  function say(text: string, extra?: Pick<Notice, 'stays'>) {
    if (isLost) void note(text);
    else screen.show({ type: 'notice', text, ...extra });
  }

  async function perform(action: Action): Promise<void> {
    switch (action.type) {
      case 'quit':
        if (quitting.signal.aborted) io.exit(exitCodes.interrupted);
        else (options.onQuit ?? quit)();
        return;
      case 'copy':
      case 'copyCurl':
        screen.copy(action.type === 'copy' ? action.text : (options.curl?.() ?? ''));
        say(`Copied ${action.type === 'copy' ? action.what : 'the curl command'}, if the terminal allows it`);
        return;
      case 'save':
        say(await saveEvents(action.text, io.cwd ?? ''));
        return;
      default:
        await options.onAction?.(action);
    }
  }

  function onEnd({ cause, error }: ScreenEnd) {
    isLost = true;
    if (cause === 'terminal') {
      const message = `The terminal is gone: ${error.message}`;
      quitting.abort(new VoicectlError('input-output', message, { cause: error }));
      return;
    }
    const what = cause === 'keys' ? 'no keys can be read from the terminal' : 'the screen failed';
    void io.stderr
      .write(`voicectl: ${what} (${error.message}); the rest follows as plain lines\n`)
      .catch(() => {});
    options.onLost?.();
  }

  return {
    signal: quitting.signal,
    get isLost() {
      return isLost;
    },
    get isTouched() {
      return screen.isTouched;
    },
    show: screen.show,
    say,
    startAt: screen.startAt,
    quit,
    close: screen.close,
  };
}

/** Writes to a new file that only its owner can read. */
async function saveEvents(text: string, cwd: string): Promise<string> {
  const stamp = new Date(systemClock.wall())
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replaceAll(':', '');
  const name = `voicectl-${stamp}.jsonl`;
  await writeText(join(cwd, name), text, { existing: 'refuse', isPrivate: true, name });
  return `Saved ${name}`;
}
