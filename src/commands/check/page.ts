import { escapeText } from '../../kernel/escape.ts';
import { withVerdictPage } from '../page/verdict-page.ts';
import type { CheckContext } from './context.ts';
import { createCheckNews } from './news.ts';
import type { CheckFacts, CheckView } from './view.ts';

/** A view that shows the verdicts in the browser as well. */
export function withCheckPage(
  context: CheckContext,
  facts: CheckFacts,
  openView: () => Promise<CheckView>,
): Promise<CheckView> {
  const about = { command: 'check', subject: escapeText(facts.name) } as const;
  return withVerdictPage(context, about, (show) => createCheckNews(facts, show), openView);
}
