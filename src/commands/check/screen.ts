import { rulesIn } from '../../conformance/check.ts';
import type { Judged } from '../../conformance/judge.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { ruleLines } from '../../report/check-lines.ts';
import { openVerdictScreen } from '../terminal/run-screen.ts';
import type { CheckContext } from './context.ts';
import { createCheckNews } from './news.ts';
import { type CheckFacts, type CheckView, printResult } from './view.ts';

/** A check in full screen: rules as rows that get their verdicts. The lines follow when the screen has closed. */
export function createCheckScreen(
  context: CheckContext,
  { device, ...facts }: CheckFacts & { device: TerminalDevice },
): CheckView {
  const { io, style, signal } = context;
  const screen = openVerdictScreen(context, { device, screen: 'check', subject: escapeText(facts.name) });
  const found = new Map<string, Judged>();
  let print: (() => Promise<void>) | undefined;
  const { follow, ended } = createCheckNews(facts, screen.show);

  return {
    follow: {
      ...follow,
      signal: AbortSignal.any([signal, screen.signal]),
      onJudged(judged, isFinal) {
        found.set(judged.rule.id, judged);
        follow.onJudged?.(judged, isFinal);
      },
    },
    async finish(result) {
      print = () => printResult(context, result);
      await screen.finish(ended(result));
    },
    async close() {
      await screen.close();
      if (print !== undefined) return print();
      // Interrupted: what was found until then.
      const known = rulesIn(facts.scope).flatMap(({ id }) => found.get(id) ?? []);
      for (const line of known.flatMap((judged) => ruleLines(judged, style)))
        await io.stdout.write(`${line}\n`);
    },
  };
}
