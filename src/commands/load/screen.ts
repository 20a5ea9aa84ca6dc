import type { Threshold } from '../../config/threshold.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { failureOf, thresholdText } from '../../report/load-lines.ts';
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
    notice: (text) => screen.show({ type: 'failure', text }),
    finish: (summary) => screen.finish(endOf(summary)),
    close: screen.close,
  };
}

function endOf(summary: LoadSummary): RunEnd {
  const { invalid, thresholds, stopped } = summary;
  const failure = failureOf(summary);
  const text =
    failure === undefined
      ? `valid${thresholds.length > 0 ? ', thresholds hold' : ''}`
      : failure.is === 'not-valid'
        ? 'not valid'
        : failure.text;
  return {
    ok: failure === undefined,
    text: stopped === null ? text : `stopped, ${text}`,
    reasons: failure?.is === 'crossed' ? failure.crossed.map(thresholdText) : invalid,
  };
}
