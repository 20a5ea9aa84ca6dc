import type { Drilled } from '../../conformance/drill/run-situation.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { drilledObject } from '../../report/drill-json.ts';
import { drilledDetail } from '../../report/drill-lines.ts';
import { openVerdictScreen } from '../terminal/verdict-screen.ts';
import type { DrillContext } from './context.ts';
import { createDrillLines, type DrillFacts, type DrillView, welcomeLines } from './view.ts';

/** A drill in full screen: situations as rows that get their verdicts. The lines follow when the screen has closed. */
export function createDrillScreen(
  context: DrillContext,
  { device, ...facts }: DrillFacts & { device: TerminalDevice },
): DrillView {
  const { args, signal } = context;
  const { situations, name, isCommand } = facts;
  const screen = openVerdictScreen(context, { device, screen: 'drill', subject: escapeText(name) });
  const lines = createDrillLines(context, { ...facts, isCommand: true });
  const kept: Drilled[] = [];
  let finish: (() => Promise<void>) | undefined;
  let judged = 0;

  screen.show({
    type: 'planned',
    what: 'situations',
    items: situations.map(({ id, title }) => ({ id, title })),
  });
  const used = () =>
    screen.show({ type: 'used', amounts: [{ name: 'situations', used: judged, of: situations.length }] });
  used();

  return {
    follow: {
      signal: AbortSignal.any([signal, screen.signal]),
      onListening(address) {
        const [base = ''] = welcomeLines(facts, address);
        if (!isCommand) screen.show({ type: 'notice', text: base });
      },
      onStopNeeded: () => screen.show({ type: 'doing', text: 'stop the device now' }),
      onBegin: ({ id, title }) => screen.show({ type: 'doing', text: `${id} ${title}` }),
      onDrilled(drilled) {
        kept.push(drilled);
        if (drilled.id !== drilled.situation) return;
        judged += 1;
        const { id, title, finding } = drilled;
        const { verdict, message } = finding;
        screen.show({
          type: 'judged',
          item: { id, title, verdict, message, isFinal: true },
          lines: drilledDetail(drilled, args),
          body: drilledObject(drilled, args),
        });
        used();
      },
    },
    async finish(result) {
      finish = () => lines.finish(result);
      const { exitCode, stopped } = result;
      const text = stopped === undefined ? (exitCode === 0 ? 'done, ok' : 'done, failed') : 'stopped';
      await screen.finish({ ok: exitCode === 0, text });
    },
    async close() {
      await screen.close();
      for (const drilled of kept) lines.follow.onDrilled?.(drilled);
      await finish?.();
      await lines.close();
    },
  };
}
