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
}
