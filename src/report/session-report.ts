import type { Failure } from '../kernel/failure-kind.ts';
import { closeText } from '../protocol/close-codes.ts';
import type { RepeatSummary, RunResult, SpreadMetric } from '../runs/repeat.ts';
import type { ExpectationVerdict } from '../session/expectations.ts';
import type { SessionSummary } from '../session/summary.ts';
import { maxAnnotations } from './github.ts';
import type { Block, RunReport, TestCase, TestSuite } from './run-report.ts';
import { plainStyle } from './style.ts';
import { spreadNames, summaryLines, summaryMsText } from './summary-lines.ts';

export interface SessionReport {
  /** What was tested, for people: `stream hello.wav`. */
  name: string;
  runs: readonly RunResult[];
  /** The summary of several runs, even if only one began; undefined for a single session. */
  total?: RepeatSummary | undefined;
}

/**
 * Sessions, for pipelines: a suite for each run; in it a case for the session itself, which is in error if the session
 * broke off, and one for each expectation.
 */
export function sessionReport({ name, runs, total }: SessionReport): RunReport {
  const isOneOfMany = total !== undefined;
  return {
    name,
    suites: runs.map((run) => suiteOf(run, { name, isOneOfMany })),
    failures: runs.flatMap((run) => failuresOf(run, `${name}${isOneOfMany ? `, run ${run.run}` : ''}`)),
    blocks: [
      ...failureBlocks(runs, isOneOfMany),
      ...verdictBlocks(runs, total),
      ...measuredBlocks(runs[0], total),
    ],
  };
}

function suiteOf(
  { run, startedAt, elapsedMs, summary, failure }: RunResult,
  { name, isOneOfMany }: { name: string; isOneOfMany: boolean },
): TestSuite {
  const classname = `voicectl.stream${isOneOfMany ? `.run${run}` : ''}`;
  const verdicts = summary?.verdicts ?? [];
  // A failed expectation is reported in its own case.
  const isOwn = failure !== null && failure.code !== 'expectation-failed';
  const session: TestCase = {
    name: 'session',
    classname,
    seconds: elapsedMs / 1000,
    ...(isOwn ? { outcome: { element: 'error', type: failure.kind, message: failure.message } } : {}),
    out: summary === undefined ? [] : summaryLines(summary, plainStyle),
  };
  const judged = verdicts.map((verdict) => caseOf(verdict, classname));
  return {
    name: isOneOfMany ? `${name}, run ${run}` : name,
    startedAt,
    seconds: elapsedMs / 1000,
    properties: propertiesOf(summary, failure),
    cases: [session, ...judged],
  };
}

function caseOf(
  { name, ok, skipped, expected, measured, kind }: ExpectationVerdict,
  classname: string,
): TestCase {
  const text = `expected ${expected}, measured ${measured}`;
  const element = skipped ? 'skipped' : ok ? undefined : 'failure';
  return {
    name: `${name}: ${expected}`,
    classname,
    seconds: 0,
    ...(element === undefined ? {} : { outcome: { element, type: kind ?? 'bug', message: text } }),
    out: [text],
  };
}

/** A session that broke off is one failure, however many expectations it leaves unmet. */
function failuresOf({ failure, summary }: RunResult, about: string): RunReport['failures'] {
  if (failure === null) return [];
  if (failure.code !== 'expectation-failed')
    return [{ title: `${about}: ${failure.kind}`, message: failure.message }];
  return (summary?.verdicts ?? [])
    .filter(({ ok }) => !ok)
    .map(({ name, expected, measured, kind }) => ({
      title: `${about}: ${kind}`,
      message: `${name}: expected ${expected}, measured ${measured}`,
    }));
}

/** The measured values, for tools that collect them. Times are milliseconds. */
function propertiesOf(summary: SessionSummary | undefined, failure: Failure | null): [string, string][] {
  const { jitterMs = null, close = null } = summary ?? {};
  const values: Record<string, string | number | null | undefined> = {
    device: summary?.device,
    exitCode: failure?.exitCode ?? 0,
    failureKind: failure?.kind,
    tokenMs: summary?.tokenMs,
    connectMs: summary?.connectMs,
    authoriseMs: summary?.authoriseMs,
    firstAudioMs: summary?.firstAudioMs,
    longestGapMs: summary?.longestGapMs,
    jitterP50Ms: jitterMs?.p50,
    jitterP95Ms: jitterMs?.p95,
    jitterMaxMs: jitterMs?.max,
    audioOutMs: summary?.out.audioMs,
    audioInMs: summary?.in.audioMs,
    audibleMs: summary?.audibleMs,
    closeCode: close?.code,
    ...Object.fromEntries(
      Object.entries(summary?.events ?? {}).map(([kind, count]) => [`event.${kind}`, count]),
    ),
  };
  return Object.entries(values).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)] satisfies [string, string]],
  );
}

function failureBlocks(runs: readonly RunResult[], isOneOfMany: boolean): Block[] {
  return runs
    .flatMap(({ run, failure }) => (failure === null ? [] : [{ run, ...failure }]))
    .slice(0, maxAnnotations)
    .map(({ run, kind, message }) => [isOneOfMany ? `Run ${run}: ` : '', { strong: kind }, ` ${message}`]);
}

function verdictBlocks(runs: readonly RunResult[], total: RepeatSummary | undefined): Block[] {
  const verdicts = total?.verdicts ?? runs[0]?.summary?.verdicts ?? [];
  if (verdicts.length === 0) return [];
  const rows = verdicts.map(({ name, ok, skipped, expected, measured }) => [
    skipped ? 'skip' : ok ? 'pass' : { strong: 'FAIL' },
    name,
    expected,
    measured,
  ]);
  return [{ head: ['', 'expectation', 'expected', 'measured'], rows }];
}

function measuredBlocks(run: RunResult | undefined, total: RepeatSummary | undefined): Block[] {
  if (total !== undefined) return spreadBlocks(total);
  const summary = run?.summary;
  if (summary === undefined) return [];
  const { tokenMs, connectMs, authoriseMs, firstAudioMs, longestGapMs, jitterMs, close } = summary;
  const rows = [
    ['audio sent', `${summary.out.audioMs} ms`],
    ['audio received', `${summary.in.audioMs} ms`],
    ['token', summaryMsText(tokenMs)],
    ['connect', summaryMsText(connectMs)],
    ['confirmed', summaryMsText(authoriseMs)],
    ['first audio', summaryMsText(firstAudioMs)],
    ['longest gap', summaryMsText(longestGapMs)],
    ['jitter, p95', summaryMsText(jitterMs?.p95 ?? null)],
    ['close', close === null ? '–' : closeText(close)],
  ];
  return [{ head: ['metric', 'measured'], rows }];
}

function spreadBlocks({ runs, passed, spread }: RepeatSummary): Block[] {
  const rows = Object.entries(spread).map(([name, values]) =>
    values === null
      ? [spreadNames[name as SpreadMetric], '0', '–', '–', '–', '–']
      : [
          spreadNames[name as SpreadMetric],
          ...[values.count, values.min, values.median, values.p95, values.max].map(String),
        ],
  );
  return [
    [`${passed} of ${runs} runs passed.`],
    { head: ['metric', 'values', 'min', 'median', 'p95', 'max'], rows },
  ];
}
