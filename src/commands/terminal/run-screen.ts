import { type ClockTimer, systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { version } from '../../kernel/version.ts';
import type { Action, Notice, ScreenName } from '../../ui/port.ts';
import { openScreen, type ScreenEnd } from '../../ui/screen.ts';
import { drawWorker } from '../../ui/worker-file.ts';
import type { CommandContext } from '../command.ts';
import { runOwnAction } from './screen-actions.ts';
import { speaksUnicode } from './speaks-unicode.ts';

/** What fills the terminal while something runs that ends by itself. */
export interface RunScreen<News> {
  /** Aborted when the user quits while it runs, or the terminal is gone. */
  readonly signal: AbortSignal;
  show(news: News | Notice): void;
  /** Says that all is done. If a key other than `q` was pressed, resolves when the user leaves; else at once. */
  finish(end: RunEnd): Promise<void>;
  /** Restores the terminal. */
  close(): Promise<void>;
}

/** `reasons`: what is to be told of a bad end. */
export interface RunEnd {
  ok: boolean;
  text: string;
  reasons?: readonly string[];
}

/** What each such screen is shown beside its own news. */
type OwnNews = { type: 'tick' } | ({ type: 'ended' } & RunEnd);

export interface RunScreenOptions<News> {
  device: TerminalDevice;
  screen: ScreenName;
  /** For the head of the screen. */
  subject: string;
  /** Makes one of two that wait to be drawn. */
  fold: (before: News, news: News) => News | undefined;
}

/** So often the times on the screen are drawn again. */
const tickMs = 250;

export function openRunScreen<News extends { type: string }>(
  { settings, io, colour, signal }: CommandContext<'ascii'>,
  { device, screen: name, subject, fold }: RunScreenOptions<News>,
): RunScreen<News> {
  const quitting = new AbortController();
  let isOnScreen = true;
  let isFinished = false;
  let leave: () => void = () => {};
  let ticking: ClockTimer | undefined;
  const screen = openScreen<News | OwnNews>({
    device,
    clock: systemClock,
    worker: drawWorker,
    colour,
    start: {
      screen: name,
      version,
      ascii: settings.ascii ?? !speaksUnicode(io.env),
      subject,
      can: ['copy'],
    },
    fold: (before, news) => (isOwn(before) || isOwn(news) ? undefined : fold(before, news)),
    onAction: (action) => void act(action),
    onEnd,
  });
  const tell = (text: string) => screen.show({ type: 'notice', text });

  async function act(action: Action) {
    if (action.type === 'quit') {
      quitting.abort(new VoicectlError('interrupted', 'Interrupted'));
      leave();
    } else if (action.type === 'copy') {
      await runOwnAction(action, { cwd: io.cwd, curl: () => '', copy: screen.copy, tell });
    }
  }

  function onEnd({ cause, error }: ScreenEnd) {
    isOnScreen = false;
    ticking?.cancel();
    leave();
    if (cause === 'terminal') {
      const message = `The terminal is gone: ${error.message}`;
      quitting.abort(new VoicectlError('input-output', message, { cause: error }));
      return;
    }
    void io.stderr
      .write(`voicectl: the screen failed (${error.message}); the result follows as plain lines\n`)
      .catch(() => {});
  }

  const tick = () => {
    if (isFinished || !isOnScreen) return;
    screen.show({ type: 'tick' });
    ticking = systemClock.after(tickMs, tick, { background: true });
  };
  tick();

  return {
    signal: quitting.signal,
    show: screen.show,
    async finish(end) {
      isFinished = true;
      screen.show({ type: 'ended', ...end });
      if (!screen.isTouched || !isOnScreen || signal.aborted || quitting.signal.aborted) return;
      tell('All done: q leaves');
      await new Promise<void>((resolve) => {
        leave = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    },
    async close() {
      ticking?.cancel();
      await screen.close();
    },
  };
}

function isOwn(news: { type: string }): news is OwnNews {
  return news.type === 'tick' || news.type === 'ended';
}
