import type { Failure } from '../kernel/failure-kind.ts';
import type { RunResult } from '../runs/repeat.ts';
import type { Verdict } from '../session/expectations.ts';
import type { SessionSummary } from '../session/summary.ts';
import { suitesXml, type TestCase, type TestSuite } from './junit-suites.ts';
import { createStyle } from './style.ts';
import { summaryLines } from './summary-lines.ts';

export interface JunitReport {
  /** What was tested, for display: `stream hello.wav`. */
  name: string;
  /** The name of the command. */
  command: string;
  runs: readonly RunResult[];
}

/**
 * The runs as JUnit XML, as Ant and Jenkins define it: a suite for each run; in it a case for the
 * session itself, which is in error if the session broke off, and one for each expectation.
 */
export function junitXml({ name, command, runs }: JunitReport): string {
  return suitesXml(runs.map((run) => suiteOf(run, { name, command, isOneOfMany: runs.length > 1 })));
}

interface Naming {
  name: string;
  command: string;
  isOneOfMany: boolean;
}

function suiteOf({ run, startedAt, elapsedMs, summary, failure }: RunResult, naming: Naming): TestSuite {
  const { name, command, isOneOfMany } = naming;
  const classname = `voicectl.${command}${isOneOfMany ? `.run${run}` : ''}`;
  const verdicts = summary?.verdicts ?? [];
  // A failed expectation is reported in its own case.
  const isOwn = failure !== null && failure.code !== 'expectation-failed';
  const session: TestCase = {
    name: 'session',
    classname,
    seconds: elapsedMs / 1000,
    ...(isOwn ? { outcome: { element: 'error', type: failure.kind, message: failure.message } } : {}),
    out: summary === undefined ? [] : summaryLines(summary, createStyle(false)),
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

function caseOf({ name, ok, skipped, expected, measured, kind }: Verdict, classname: string): TestCase {
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
