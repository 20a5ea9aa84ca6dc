import { version } from '../kernel/version.ts';
import type { LoadFacts } from '../runs/load/result.ts';
import type { LoadSummary, SecondSummary } from '../runs/load/summary.ts';

/** The plan as the first object of a run. */
export function loadPlanObject({ version: _, ...facts }: LoadFacts): object {
  return { type: 'plan', version, ...facts };
}

/** One second of a run, and what it has come to so far. */
export function loadProgressObject(
  { second, counts, open, times, late }: SecondSummary,
  core: number | undefined,
): object {
  return { t: (second + 1) * 1000, type: 'progress', open, counts, times, late, core: core ?? null };
}

/** The result as the last object: without the series, which `--out` writes. */
export function loadSummaryObject({ seconds: _, ...summary }: LoadSummary, exitCode: number): object {
  const { metrics, invalid, ...rest } = summary;
  return {
    type: 'summary',
    ...rest,
    metrics: Object.fromEntries(metrics.map(({ metric, bars: _bars, ...values }) => [metric, values])),
    valid: invalid.length === 0,
    invalid,
    exitCode,
  };
}
