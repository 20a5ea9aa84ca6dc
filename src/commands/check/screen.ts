import { type CheckResult, rulesIn } from '../../conformance/check.ts';
import type { Cost } from '../../conformance/cost.ts';
import { addCosts, noCost } from '../../conformance/cost.ts';
import type { Judged } from '../../conformance/judge.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { ruleObject } from '../../report/check-json.ts';
import { ruleLines } from '../../report/check-lines.ts';
import { ruleDetail } from '../../report/rule-detail.ts';
import type { Amount, ItemSeen } from '../../ui/verdict-model.ts';
import { openVerdictScreen } from '../terminal/verdict-screen.ts';
import type { CheckContext } from './context.ts';
import { type CheckFacts, type CheckView, printResult } from './view.ts';

/** A check in full screen: rules as rows that get their verdicts. The lines follow when the screen has closed. */
export function createCheckScreen(
  context: CheckContext,
  { name, plan, scope, device }: CheckFacts & { device: TerminalDevice },
): CheckView {
  const { io, style, signal } = context;
  const screen = openVerdictScreen(context, { device, screen: 'check', subject: escapeText(name) });
  const found = new Map<string, Judged>();
  let asked = 0;
  let planned = plan.cost;
  let spent = noCost;
  let isAgain = false;
  let print: (() => Promise<void>) | undefined;

  const used = () =>
    screen.show({
      type: 'used',
      amounts: [{ name: 'steps', used: asked, of: plan.steps.length }, ...costAmounts(spent, planned)],
    });
  const rules = rulesIn(scope);
  screen.show({ type: 'planned', what: 'rules', items: rules.map(({ id, title }) => ({ id, title })) });
  used();

  return {
    follow: {
      signal: AbortSignal.any([signal, screen.signal]),
      onStep({ id, title }, number) {
        if (number === 1) asked += 1;
        else if (!isAgain) {
          isAgain = true;
          planned = addCosts([plan.cost, plan.confirmCost]);
        }
        screen.show({ type: 'doing', text: `${number === 2 ? 'again: ' : ''}${id} ${title}` });
        used();
      },
      onWait: (ms) => screen.show({ type: 'doing', text: 'waiting', forMs: ms }),
      onSpent(cost) {
        spent = cost;
        used();
      },
      onJudged(judged, isFinal) {
        found.set(judged.rule.id, judged);
        const [lines, body] = [ruleDetail(judged), ruleObject(judged)];
        screen.show({ type: 'judged', item: itemOf(judged, isFinal), lines, body });
      },
    },
    async finish(result) {
      print = () => printResult(context, result);
      await screen.finish(outcomeOf(result));
    },
    async close() {
      await screen.close();
      if (print !== undefined) return print();
      // Interrupted: what was found until then.
      const known = rules.flatMap(({ id }) => found.get(id) ?? []);
      for (const line of known.flatMap((judged) => ruleLines(judged, style)))
        await io.stdout.write(`${line}\n`);
    },
  };
}

function outcomeOf({ exitCode, stopped }: CheckResult): { ok: boolean; text: string } {
  const ok = exitCode === 0;
  return { ok, text: stopped === undefined ? (ok ? 'done, ok' : 'done, failed') : 'stopped' };
}

function costAmounts(spent: Cost, planned: Cost): Amount[] {
  return [
    { name: 'requests', used: spent.tokens + spent.plain, of: planned.tokens + planned.plain },
    { name: 'connections', used: spent.connections, of: planned.connections },
  ];
}

function itemOf({ rule, finding, expected }: Judged, isFinal: boolean): ItemSeen {
  const { verdict } = finding;
  const message = expected === undefined ? finding.message : `${finding.message} (expected: ${expected})`;
  return { id: rule.id, title: rule.title, verdict, message, isFinal };
}
