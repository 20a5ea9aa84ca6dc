import type { VerdictNews } from '../../ui/verdict-model.ts';
import type { CommandContext } from '../command.ts';
import { openRunScreen, type RunScreen, type RunScreenOptions } from './run-screen.ts';

/** A list of verdicts that fills the terminal. */
export function openVerdictScreen(
  context: CommandContext<'ascii'>,
  options: Omit<RunScreenOptions<VerdictNews>, 'fold'>,
): RunScreen<VerdictNews> {
  return openRunScreen<VerdictNews>(context, {
    ...options,
    fold: (before, news) => (before.type === news.type && news.type === 'used' ? news : undefined),
  });
<<<<<<< HEAD
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
=======
>>>>>>> 05eeade (Show load runs on a screen, and bench with its generator)
}
