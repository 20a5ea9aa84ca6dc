import { type ClockTimer, systemClock } from '../../kernel/clock.ts';
import { createDeferred, whenAborted } from '../../kernel/promises.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import type { Notice, ScreenName } from '../../ui/port.ts';
import type { VerdictNews } from '../../ui/verdict-model.ts';
import type { CommandContext } from '../command.ts';
import { openCommandScreen } from './command-screen.ts';

/** The screen of a run that ends by itself. */
export interface RunScreen<News> {
  /** Aborted when the user quits during the run, or the terminal is gone. */
  readonly signal: AbortSignal;
  show(news: News | Notice): void;
  /** Shows that the run is over. Resolves at once, or if the user has pressed a key, when the user leaves. */
  finish(end: RunEnd): Promise<void>;
  /** Restores the terminal. */
  close(): Promise<void>;
}

/** `reasons`: why it ended badly. */
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
  /** Merges two items that wait to be drawn; default: never. */
  fold?: (before: News, news: News) => News | undefined;
}

/** The times on the screen are drawn again at this interval. */
const tickMs = 250;

export function openRunScreen<News extends { type: string }>(
  context: CommandContext<'ascii'>,
  { device, screen: name, subject, fold }: RunScreenOptions<News>,
): RunScreen<News> {
  const { signal } = context;
  const left = createDeferred();
  const screen = openCommandScreen<News | OwnNews>(context, {
    device,
    start: { screen: name, subject, can: ['copy'] },
    fold: (before, news) => (isOwn(before) || isOwn(news) ? undefined : fold?.(before, news)),
    onLost: () => left.resolve(),
  });
  let ticking: ClockTimer | undefined;
  const tick = () => {
    if (screen.isLost) return;
    screen.show({ type: 'tick' });
    ticking = systemClock.after(tickMs, tick, { background: true });
  };
  tick();

  return {
    signal: screen.signal,
    show: screen.show,
    async finish(end) {
      ticking?.cancel();
      screen.show({ type: 'ended', ...end });
      const isOver = AbortSignal.any([signal, screen.signal]);
      if (!screen.isTouched || screen.isLost || isOver.aborted) return;
      screen.say('Done: q quits');
      await Promise.race([left.promise, whenAborted(isOver)]);
    },
    async close() {
      ticking?.cancel();
      await screen.close();
    },
  };
}

/** A list of verdicts that fills the terminal. */
export function openVerdictScreen(
  context: CommandContext<'ascii'>,
  options: Omit<RunScreenOptions<VerdictNews>, 'fold'>,
): RunScreen<VerdictNews> {
  const fold = (before: VerdictNews, news: VerdictNews) =>
    before.type === news.type && news.type === 'used' ? news : undefined;
  return openRunScreen<VerdictNews>(context, { ...options, fold });
}

function isOwn(news: { type: string }): news is OwnNews {
  return news.type === 'tick' || news.type === 'ended';
}
