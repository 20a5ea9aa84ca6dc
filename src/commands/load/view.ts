import { jsonLine } from '../../kernel/escape.ts';
import { loadPlanObject, loadProgressObject } from '../../report/load-json.ts';
import { loadPlanLines, loadProgressText } from '../../report/load-lines.ts';
import type { LoadFacts } from '../../runs/load/result.ts';
import type { LoadProgress } from '../../runs/load/run-load.ts';
import { summariseSecond } from '../../runs/load/summary.ts';
import type { LoadContext } from './context.ts';

/** Shows a run while it goes on: on a screen, as a line that changes, as lines, or as JSON. */
export interface LoadView {
  progress(progress: LoadProgress): void;
  notice(text: string): void;
  /** Aborted when the user ends the run. */
  readonly ended: AbortSignal;
  /** Called when the run is over, before the result is printed. */
  close(): Promise<void>;
}

const clearLine = '\r\u001b[K';
/** Where the line cannot change, a new one is written this often. */
const lineEverySeconds = 10;

/** The plan, on standard output. */
export async function showPlan({ io, json, style, quiet }: LoadContext, facts: LoadFacts): Promise<void> {
  if (json) await io.stdout.write(jsonLine(loadPlanObject(facts)));
  else if (!quiet) await io.stdout.write(`${loadPlanLines(facts, style).join('\n')}\n`);
}

export async function openView(context: LoadContext, _facts: LoadFacts): Promise<LoadView> {
  return createLoadLines(context);
}

function createLoadLines({ io, json, quiet, note, warn }: LoadContext): LoadView {
  const isLive = io.stderr.isTTY && !quiet && !json;
  const write = (text: string) => void io.stderr.write(text).catch(() => {});
  return {
    ended: new AbortController().signal,
    progress({ second, totals, core }) {
      // Counts of the whole run, times of the last second.
      const seen = { ...summariseSecond(totals.series.at(second)), counts: totals.counts };
      if (json) void io.stdout.write(jsonLine(loadProgressObject(seen, core))).catch(() => {});
      else if (isLive) write(`${clearLine}${loadProgressText(seen, core)}`);
      else if ((second + 1) % lineEverySeconds === 0) void note(loadProgressText(seen, core));
    },
    notice(text) {
      if (isLive) write(clearLine);
      void warn(`! ${text}`);
    },
    async close() {
      if (isLive) write(clearLine);
    },
  };
}
