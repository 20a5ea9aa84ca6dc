import type { DrillOptions, DrillResult } from '../../conformance/drill/drill.ts';
import { drilledObject } from '../../report/drill-json.ts';
import { drilledDetail } from '../../report/drill-lines.ts';
import type { VerdictNews } from '../../ui/verdict-model.ts';
import { type DrillFacts, welcomeLines } from './view.ts';

/** What a drill tells a screen and a page. */
export interface DrillNews {
  readonly follow: Pick<DrillOptions, 'onListening' | 'onStopNeeded' | 'onBegin' | 'onDrilled'>;
  /** The last news: how the drill ended. */
  ended(result: DrillResult): Extract<VerdictNews, { type: 'ended' }>;
}

/** Turns what a drill tells into news of verdicts: situations as items. `args`: the command that is the device. */
export function createDrillNews(
  facts: DrillFacts,
  args: readonly string[],
  show: (news: VerdictNews) => void,
): DrillNews {
  const { situations, isCommand } = facts;
  let judged = 0;
  const used = () =>
    show({ type: 'used', amounts: [{ name: 'situations', used: judged, of: situations.length }] });
  show({ type: 'planned', what: 'situations', items: situations.map(({ id, title }) => ({ id, title })) });
  used();
  return {
    follow: {
      onListening(address) {
        const [base = ''] = welcomeLines(facts, address);
        if (!isCommand) show({ type: 'notice', text: base });
      },
      onStopNeeded: () => show({ type: 'doing', text: 'stop the device now' }),
      onBegin: ({ id, title }) => show({ type: 'doing', text: `${id} ${title}` }),
      onDrilled(drilled) {
        if (drilled.id !== drilled.situation) return;
        judged += 1;
        const { id, title, finding } = drilled;
        const { verdict, message } = finding;
        show({
          type: 'judged',
          item: { id, title, verdict, message, isFinal: true },
          lines: drilledDetail(drilled, args),
          body: drilledObject(drilled, args),
        });
        used();
      },
    },
    ended({ exitCode, stopped }) {
      const text = stopped === undefined ? (exitCode === 0 ? 'done, ok' : 'done, failed') : 'stopped';
      return { type: 'ended', ok: exitCode === 0, text };
    },
  };
}
