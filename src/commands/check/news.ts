import { type CheckOptions, type CheckResult, rulesIn } from '../../conformance/check.ts';
import { addCosts, type Cost, noCost } from '../../conformance/cost.ts';
import type { Judged } from '../../conformance/judge.ts';
import { ruleObject } from '../../report/check-json.ts';
import { ruleDetail } from '../../report/rule-detail.ts';
import type { Amount, ItemSeen, VerdictNews } from '../../ui/verdict-model.ts';
import type { CheckFacts } from './view.ts';

/** What a run tells a screen and a page. */
export interface CheckNews {
  readonly follow: Pick<CheckOptions, 'onStep' | 'onWait' | 'onSpent' | 'onJudged'>;
  /** The last news: how the run ended. */
  ended(result: CheckResult): Extract<VerdictNews, { type: 'ended' }>;
}

/** Turns what a check tells into news of verdicts: rules as items, and the plan as what is used up. */
export function createCheckNews({ plan, scope }: CheckFacts, show: (news: VerdictNews) => void): CheckNews {
  let asked = 0;
  let planned = plan.cost;
  let spent = noCost;
  let isAgain = false;
  const used = () =>
    show({
      type: 'used',
      amounts: [{ name: 'steps', used: asked, of: plan.steps.length }, ...costAmounts(spent, planned)],
    });
  show({ type: 'planned', what: 'rules', items: rulesIn(scope).map(({ id, title }) => ({ id, title })) });
  used();
  return {
    follow: {
      onStep({ id, title }, number) {
        if (number === 1) asked += 1;
        else if (!isAgain) {
          isAgain = true;
          planned = addCosts([plan.cost, plan.confirmCost]);
        }
        show({ type: 'doing', text: `${number === 2 ? 'again: ' : ''}${id} ${title}` });
        used();
      },
      onWait: (ms) => show({ type: 'doing', text: 'waiting', forMs: ms }),
      onSpent(cost) {
        spent = cost;
        used();
      },
      onJudged(judged, isFinal) {
        const [lines, body] = [ruleDetail(judged), ruleObject(judged)];
        show({ type: 'judged', item: itemOf(judged, isFinal), lines, body });
      },
    },
    ended({ exitCode, stopped }) {
      const ok = exitCode === 0;
      return {
        type: 'ended',
        ok,
        text: stopped === undefined ? (ok ? 'done, ok' : 'done, failed') : 'stopped',
      };
    },
  };
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
