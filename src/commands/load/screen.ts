import type { Threshold } from '../../config/threshold.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { thresholdText } from '../../report/load-lines.ts';
import { readLive } from '../../runs/load/live.ts';
import type { LoadFacts } from '../../runs/load/result.ts';
import type { LoadSummary } from '../../runs/load/summary.ts';
import type { LoadNews } from '../../ui/load-model.ts';
import type { ContextOf } from '../command.ts';
import { openRunScreen, type RunEnd } from '../terminal/run-screen.ts';
import type { LoadView } from './view.ts';

/** A run in full screen: sessions, and percentiles over time. The table follows when the screen has closed. */
export function createLoadScreen(
  context: ContextOf<'load'>,
  { target, task, arrival, cost }: LoadFacts,
  { device, thresholds }: { device: TerminalDevice; thresholds: readonly Threshold[] },
): LoadView {
  const { io, signal } = context;
  const screen = openRunScreen<LoadNews>(context, {
    device,
    screen: 'load',
    subject: escapeText(`${target}: ${task}, ${arrival}`),
  });
  return {
    signal: AbortSignal.any([signal, screen.signal]),
    planned(startAt) {
      const { sessions, longestMs } = cost;
      screen.show({ type: 'planned', sessions, longestMs, startsInMs: startAt - io.clock.wall() });
    },
    progress: (progress) => screen.show({ type: 'second', live: readLive(progress, thresholds) }),
    notice: (text) => screen.show({ type: 'told', text }),
    finish: (summary) => screen.finish(endOf(summary)),
    close: screen.close,
  };
}

function endOf({ invalid, thresholds, stopped }: LoadSummary): RunEnd {
  const crossed = thresholds.filter(({ holds }) => !holds);
  const ok = invalid.length === 0 && crossed.length === 0;
  const verdict =
    invalid.length > 0
      ? 'not valid'
      : crossed.length > 0
        ? `${crossed.length} of ${thresholds.length} thresholds crossed`
        : thresholds.length > 0
          ? 'valid, thresholds hold'
          : 'valid';
  const text = stopped === null ? verdict : `stopped, ${verdict}`;
  return { ok, text, reasons: [...invalid, ...crossed.map(thresholdText)] };
}
