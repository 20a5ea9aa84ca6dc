import { type AgainOptions, askAgain, findAgain, planAgain } from '../../conformance/again.ts';
import { countVerdicts } from '../../conformance/verdicts.ts';
import { jsonLine } from '../../kernel/escape.ts';
import {
  checkSummaryObject,
  exchangeObject,
  ruleLines,
  ruleObject,
  spentLine,
} from '../../report/check-lines.ts';
import { againLines } from '../../report/exchange-lines.ts';
import type { ContextOf } from '../command.ts';
import { followSteps, openExchanges, printPlan, scopeOf } from '../conformance/exchanges.ts';
import { createProgress } from '../conformance/run-verdicts.ts';

/** `check --again ID`: prints the exchanges in full, and for a rule its verdict. Throws what stopped the run. */
export async function runAgain(
  context: ContextOf<'check'>,
  { id, inputs }: { id: string; inputs(): Promise<Pick<AgainOptions, 'expected' | 'verify'>> },
): Promise<number> {
  const { settings, io, json, style, signal, verbose } = context;
  const scope = scopeOf(context);
  const again = findAgain(id, scope);
  if (settings.dryRun) {
    await printPlan(context, { ...scope, steps: again.steps });
    return 0;
  }
  const given = { ...(await inputs()), strict: settings.strict === true };
  const { options, close } = await openExchanges(context, scope);
  const progress = createProgress(context);
  try {
    const follow = followSteps(planAgain(again, scope), { ...context, show: progress.show });
    const result = await askAgain(again, { ...options, ...given, ...follow, signal });
    progress.clear();
    const { exchanges, judged, stopped, notAsked, exitCode } = result;
    if (json) {
      const verdicts = countVerdicts(judged === undefined ? [] : [judged]);
      const objects = [
        ...exchanges.map(exchangeObject),
        ...(judged === undefined ? [] : [ruleObject(judged)]),
        checkSummaryObject({ ...result, verdicts }),
      ];
      await io.stdout.write(objects.map(jsonLine).join(''));
    } else {
      const verdict = judged === undefined ? [] : [...ruleLines(judged, style), ''];
      const lines = [...againLines(result, { id: again.id, isDetailed: verbose, style }), '', ...verdict];
      await io.stdout.write(`${[...lines, spentLine(result)].join('\n')}\n`);
    }
    if (stopped !== undefined) throw stopped;
    if (notAsked !== undefined && exitCode === notAsked.exitCode) throw notAsked;
    return exitCode;
  } finally {
    progress.clear();
    await close();
  }
}
