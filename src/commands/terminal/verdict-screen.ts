import { type ClockTimer, systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { version } from '../../kernel/version.ts';
import type { Action, ScreenName } from '../../ui/port.ts';
import { openScreen, type ScreenEnd } from '../../ui/screen.ts';
import type { VerdictNews } from '../../ui/verdict-model.ts';
import { drawWorker } from '../../ui/worker-file.ts';
import type { CommandContext } from '../command.ts';
import { runOwnAction } from './screen-actions.ts';
import { speaksUnicode } from './speaks-unicode.ts';

/** A list of verdicts that fills the terminal. */
export interface VerdictScreen {
  /** Aborted when the user quits while verdicts are awaited, or the terminal is gone. */
  readonly signal: AbortSignal;
  show(news: VerdictNews): void;
  /** Says that all verdicts are there. If a key other than `q` was pressed, resolves when the user leaves; else at once. */
  finish(end: { ok: boolean; text: string }): Promise<void>;
  /** Restores the terminal. */
  close(): Promise<void>;
}

export interface VerdictScreenOptions {
  device: TerminalDevice;
  screen: ScreenName;
  /** For the head of the screen. */
  subject: string;
}

/** So often the times on the screen are drawn again. */
const tickMs = 250;

export function openVerdictScreen(
  { settings, io, colour, signal }: CommandContext<'ascii'>,
  { device, screen: name, subject }: VerdictScreenOptions,
): VerdictScreen {
  const quitting = new AbortController();
  let isOnScreen = true;
  let isFinished = false;
  let leave: () => void = () => {};
  let ticking: ClockTimer | undefined;
  const screen = openScreen<Exclude<VerdictNews, { type: 'notice' }>>({
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
    fold: (before, news) => (before.type === news.type && news.type === 'used' ? news : undefined),
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
      .write(`voicectl: the screen failed (${error.message}); the verdicts follow as plain lines\n`)
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
