import type { LoadSummary } from '../runs/load/summary.ts';
import { suitesXml, type TestCase } from './junit-suites.ts';
import { loadSummaryLines, thresholdText } from './load-lines.ts';
import { createStyle } from './style.ts';

/** The run as JUnit XML: a case for the run itself, in error if it is not valid, and one for each threshold. */
export function loadJunit(summary: LoadSummary, exitCode: number): string {
  const { facts, thresholds, invalid, seconds, metrics, stopped } = summary;
  const classname = 'voicectl.load';
  const why = [...invalid, ...(stopped === null ? [] : [stopped])];
  const run: TestCase = {
    name: 'run',
    classname,
    seconds: seconds.length,
    ...(why.length === 0
      ? {}
      : {
          outcome: {
            element: 'error',
            type: invalid.length > 0 ? 'not-valid' : 'stopped',
            message: why.join('; '),
          },
        }),
    out: loadSummaryLines(summary, createStyle(false)),
  };
  const cases = thresholds.map((threshold): TestCase => {
    const message = thresholdText(threshold);
    return {
      name: threshold.text,
      classname,
      seconds: 0,
      ...(threshold.holds ? {} : { outcome: { element: 'failure', type: 'threshold', message } }),
      out: [message],
    };
  });
  const properties = [
    ['exitCode', String(exitCode)],
    ...Object.entries(summary.counts).map(([name, count]) => [name, String(count)] as const),
    ...metrics.flatMap(({ metric, statistics }) =>
      Object.entries(statistics).map(([name, { ms }]) => [`${metric}.${name}Ms`, ms.toFixed(3)] as const),
    ),
  ] as const;
  return suitesXml([
    {
      name: `load ${facts.target}`,
      startedAt: facts.startAt,
      seconds: seconds.length,
      properties,
      cases: [run, ...cases],
    },
  ]);
}
