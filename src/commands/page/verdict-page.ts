import type { VerdictPage, VerdictPageOptions } from '../../page/server/serve-verdicts.ts';
import type { VerdictNews } from '../../ui/verdict-model.ts';
import type { CommandContext } from '../command.ts';
import { showPage } from './open-browser.ts';

/** The page of a run of verdicts, in the browser. */
export interface OpenVerdictPage {
  show(news: VerdictNews): void;
  /** Resolves when the browser has all of it. */
  close(): Promise<void>;
}

/** Serves the page of `check` or `drill` and shows it in the browser, for `--open`. */
export async function openVerdictPage(
  context: CommandContext<never>,
  about: Pick<VerdictPageOptions, 'command' | 'subject'>,
): Promise<OpenVerdictPage> {
  const { io, signal } = context;
  const { version } = await import('../../kernel/version.ts');
  const { serveVerdicts } = await import('../../page/server/serve-verdicts.ts');
  const page: VerdictPage = await serveVerdicts({ ...about, version, clock: io.clock });
  const inVain = await showPage(context, page.url);
  if (!inVain.aborted) await context.note(`The page is ${page.url}`);
  return {
    show: page.show,
    close: () => page.close(!inVain.aborted, AbortSignal.any([signal, inVain])),
  };
}
