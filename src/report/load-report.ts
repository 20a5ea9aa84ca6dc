import type { VoicectlError } from '../kernel/errors.ts';
import { failureKind } from '../kernel/failure-kind.ts';
import type { LoadSummary } from '../runs/load/summary.ts';
import { countLines, loadSummaryLines, measuredText, thresholdText } from './load-lines.ts';
import type { RunReport, TestCase } from './run-report.ts';
import { plainStyle } from './style.ts';

/**
 * A load run, for pipelines: a case for the run itself, in error if it is not valid or was stopped, and one for each
 * threshold. `error`: why the run fails.
 */
export function loadReport(summary: LoadSummary, error: VoicectlError | undefined): RunReport {
  const { facts, thresholds, invalid, seconds, metrics, stopped } = summary;
  const name = `load ${facts.target}`;
  const classname = 'voicectl.load';
  const why = [...invalid, ...(stopped === null ? [] : [stopped])].join('; ');
  const kind = error && failureKind(error);
  const type = kind ?? 'not-valid';
  const run: TestCase = {
    name: 'run',
    classname,
    seconds: seconds.length,
    ...(why === '' ? {} : { outcome: { element: 'error', type, message: why } }),
    out: loadSummaryLines(summary, plainStyle),
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
    ['exitCode', String(error?.exitCode ?? 0)],
    ...(kind === undefined ? [] : [['failureKind', kind] as const]),
    ...Object.entries(summary.counts).map(([name, count]) => [name, String(count)] as const),
    ...metrics.flatMap(({ metric, statistics }) =>
      Object.entries(statistics).map(([name, { ms }]) => [`${metric}.${name}Ms`, ms.toFixed(3)] as const),
    ),
  ] as const;
  const crossed = thresholds.filter(({ holds }) => !holds).map(thresholdText);
  const rows = thresholds.map((threshold) => [
    threshold.holds ? 'pass' : { strong: 'FAIL' },
    threshold.text,
    measuredText(threshold),
  ]);
  return {
    name,
    suites: [{ name, startedAt: facts.startAt, seconds: seconds.length, properties, cases: [run, ...cases] }],
    failures: [
      ...(why === '' ? [] : [{ title: `${name}: ${type}`, message: why }]),
      ...crossed.map((message) => ({ title: `${name}: threshold`, message })),
    ],
    blocks: [
      ...(why === '' ? [] : [[{ strong: type }, ` ${why}`]]),
      ...(rows.length === 0 ? [] : [{ head: ['', 'threshold', 'measured'], rows }]),
      ...countLines(summary, plainStyle).map((line) => [line]),
    ],
  };
}
