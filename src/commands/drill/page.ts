import { escapeText } from '../../kernel/escape.ts';
import { openVerdictPage } from '../page/verdict-page.ts';
import type { DrillContext } from './context.ts';
import { createDrillNews } from './news.ts';
import type { DrillFacts, DrillView } from './view.ts';

/** A view that shows the verdicts in the browser as well. */
export async function withDrillPage(
  context: DrillContext,
  facts: DrillFacts,
  openView: () => Promise<DrillView>,
): Promise<DrillView> {
  const page = await openVerdictPage(context, { command: 'drill', subject: escapeText(facts.name) });
  const { follow, ended } = createDrillNews(facts, context.args, page.show);
  const view = await openView();
  const { follow: shown } = view;
  return {
    follow: {
      ...shown,
      onListening(address) {
        shown.onListening?.(address);
        follow.onListening?.(address);
      },
      onStopNeeded() {
        shown.onStopNeeded?.();
        follow.onStopNeeded?.();
      },
      onBegin(situation) {
        shown.onBegin?.(situation);
        follow.onBegin?.(situation);
      },
      onDrilled(drilled) {
        shown.onDrilled?.(drilled);
        follow.onDrilled?.(drilled);
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
