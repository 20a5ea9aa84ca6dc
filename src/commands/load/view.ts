import { jsonLine } from '../../kernel/escape.ts';
import {
  loadPlanLines,
  loadPlanObject,
  loadProgressObject,
  loadProgressText,
} from '../../report/load-lines.ts';
import { clearLine } from '../../report/style.ts';
import type { LoadFacts } from '../../runs/load/result.ts';
import type { LoadProgress } from '../../runs/load/run-load.ts';
import { type LoadSummary, summariseSecond } from '../../runs/load/summary.ts';
import type { ContextOf } from '../command.ts';

/** Shows a run in progress: on a screen, as a changing line, as lines, or as JSON. */
export interface LoadView {
  /** Ends the run: the signal of the command, and the user's own. */
  readonly signal: AbortSignal;
  /** The first arrival is at `startAt`, milliseconds since the epoch. */
  planned(startAt: number): void;
  progress(progress: LoadProgress): void;
  notice(text: string): void;
  /** The run is over. Resolves when the user has seen the verdict. */
  finish(summary: LoadSummary): Promise<void>;
  /** Always called, before the result is printed. */
  close(): Promise<void>;
}

/** If the line cannot change, a new one is written at this interval. */
const lineEverySeconds = 10;

/** The plan, on standard output. A dry run has nothing else to print. */
export async function showPlan(
  { json, style, quiet, print, settings }: ContextOf<'load'>,
  facts: LoadFacts,
): Promise<void> {
  if (json || !quiet || settings.dryRun) await print(loadPlanObject(facts), loadPlanLines(facts, style));
}

export function createLoadLines({ io, json, quiet, note, warn, signal }: ContextOf<'load'>): LoadView {
  const isLive = io.stderr.isTTY && !quiet && !json;
  const write = (text: string) => void io.stderr.write(text).catch(() => {});
  return {
    signal,
    planned() {},
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
    async finish() {},
    async close() {
      if (isLive) write(clearLine);
    },
  };
}
