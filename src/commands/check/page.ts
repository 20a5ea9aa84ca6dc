import { escapeText } from '../../kernel/escape.ts';
import { openVerdictPage } from '../page/verdict-page.ts';
import type { CheckContext } from './context.ts';
import { createCheckNews } from './news.ts';
import type { CheckFacts, CheckView } from './view.ts';

/** A view that shows the verdicts in the browser as well. */
export async function withCheckPage(
  context: CheckContext,
  facts: CheckFacts,
  openView: () => Promise<CheckView>,
): Promise<CheckView> {
  const page = await openVerdictPage(context, { command: 'check', subject: escapeText(facts.name) });
  const { follow, ended } = createCheckNews(facts, page.show);
  const view = await openView();
  const { follow: shown } = view;
  return {
    follow: {
      ...shown,
      onStep(...told) {
        shown.onStep?.(...told);
        follow.onStep?.(...told);
      },
      onWait(ms) {
        shown.onWait?.(ms);
        follow.onWait?.(ms);
      },
      onSpent(cost) {
        shown.onSpent?.(cost);
        follow.onSpent?.(cost);
      },
      onJudged(...told) {
        shown.onJudged?.(...told);
        follow.onJudged?.(...told);
      },
    },
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
