import type { VerdictPage, VerdictPageOptions } from '../../page/server/serve-verdicts.ts';
import type { VerdictNews } from '../../ui/verdict-model.ts';
import type { CommandContext } from '../command.ts';
import { showPage } from './open-browser.ts';

/** Shows a run of verdicts to the user. `Follow`: functions that are called with what happens, and perhaps a signal. */
interface VerdictView<Follow, Result> {
  readonly follow: Follow;
  finish(result: Result): Promise<void>;
  close(): Promise<void>;
}

/** Turns what happens into news of verdicts. */
interface News<Follow, Result> {
  readonly follow: Partial<Follow>;
  /** The last news: how the run ended. */
  ended(result: Result): VerdictNews;
}

/** The page of a run of verdicts, in the browser. */
interface OpenVerdictPage {
  show(news: VerdictNews): void;
  /** Resolves when the browser has all of it. */
  close(): Promise<void>;
}

/** A view of `check` or `drill` that shows the verdicts in the browser as well, for `--open`. */
export async function withVerdictPage<Follow extends object, Result>(
  context: CommandContext<never>,
  about: Pick<VerdictPageOptions, 'command' | 'subject'>,
  createNews: (show: OpenVerdictPage['show']) => News<Follow, Result>,
  openView: () => Promise<VerdictView<Follow, Result>>,
): Promise<VerdictView<Follow, Result>> {
  const page = await openVerdictPage(context, about);
  const { follow, ended } = createNews(page.show);
  const view = await openView();
  return {
    follow: tellBoth(view.follow, follow),
    async finish(result) {
      page.show(ended(result));
      await view.finish(result);
    },
    async close() {
      await view.close();
      await page.close();
    },
  };
}

/** Calls the functions of both, those of the view first. */
function tellBoth<Follow extends object>(view: Follow, page: Partial<Follow>): Follow {
  type Tell = (...told: unknown[]) => void;
  const ofView = view as Record<string, Tell | undefined>;
  const both = Object.entries(page as Record<string, Tell>).map(([name, tellPage]) => [
    name,
    (...told: unknown[]) => {
      ofView[name]?.(...told);
      tellPage(...told);
    },
  ]);
  return { ...view, ...Object.fromEntries(both) };
}

/** Serves the page of a run and shows it in the browser. */
async function openVerdictPage(
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
