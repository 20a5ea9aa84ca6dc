import type { Drilled } from '../../conformance/drill/run-situation.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { openVerdictScreen } from '../terminal/run-screen.ts';
import type { DrillContext } from './context.ts';
import { createDrillNews } from './news.ts';
import { createDrillLines, type DrillFacts, type DrillView } from './view.ts';

/** A drill in full screen: situations as rows that get their verdicts. The lines follow when the screen has closed. */
export function createDrillScreen(
  context: DrillContext,
  { device, ...facts }: DrillFacts & { device: TerminalDevice },
): DrillView {
  const { args, signal } = context;
  const screen = openVerdictScreen(context, { device, screen: 'drill', subject: escapeText(facts.name) });
  const lines = createDrillLines(context, { ...facts, isCommand: true });
  const { follow, ended } = createDrillNews(facts, args, screen.show);
  const kept: Drilled[] = [];
  let finish: (() => Promise<void>) | undefined;

  return {
    follow: {
      ...follow,
      signal: AbortSignal.any([signal, screen.signal]),
      onDrilled(drilled) {
        kept.push(drilled);
        follow.onDrilled?.(drilled);
      },
    },
    async finish(result) {
      finish = () => lines.finish(result);
      await screen.finish(ended(result));
    },
    async close() {
      await screen.close();
      for (const drilled of kept) lines.follow.onDrilled?.(drilled);
      await finish?.();
      await lines.close();
    },
  };
}
