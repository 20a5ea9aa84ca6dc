import { escapeText } from '../../kernel/escape.ts';
import { withVerdictPage } from '../page/verdict-page.ts';
import type { DrillContext } from './context.ts';
import { createDrillNews } from './news.ts';
import type { DrillFacts, DrillView } from './view.ts';

/** A view that shows the verdicts in the browser as well. */
export function withDrillPage(
  context: DrillContext,
  facts: DrillFacts,
  openView: () => Promise<DrillView>,
): Promise<DrillView> {
  const about = { command: 'drill', subject: escapeText(facts.name) } as const;
  return withVerdictPage(context, about, (show) => createDrillNews(facts, context.args, show), openView);
}
