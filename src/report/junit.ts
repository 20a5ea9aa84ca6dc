import { create } from 'xmlbuilder2';
import { escapeText } from '../kernel/escape.ts';
import type { Failure } from '../kernel/failure-kind.ts';
import type { RunResult } from '../runs/repeat.ts';
import type { SessionSummary } from '../session/summary.ts';
import { createStyle } from './style.ts';
import { summaryLines } from './summary-lines.ts';

export interface JunitReport {
  /** What was tested, for display: `stream hello.wav`. */
  name: string;
  /** The name of the command. */
  command: string;
  runs: readonly RunResult[];
}

interface TestCase {
  name: string;
  classname: string;
  seconds: number;
  /** `failure`: an expectation; `error`: the session itself. */
  outcome?: { element: 'failure' | 'error'; type: string; message: string };
  out: readonly string[];
}

interface TestSuite {
  name: string;
  startedAt: number;
  seconds: number;
  properties: readonly (readonly [name: string, value: string])[];
  cases: readonly TestCase[];
}

/**
 * The runs as JUnit XML, as Ant and Jenkins define it: a suite for each run; in it a case for the
 * session itself, which is in error if the session broke off, and one for each expectation.
 */
export function junitXml({ name, command, runs }: JunitReport): string {
  const suites = runs.map((run) => suiteOf(run, { name, command, isOneOfMany: runs.length > 1 }));
  // Characters that XML does not allow: U+FFFE and the like.
  const root = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\ufffd' }).ele(
    'testsuites',
    {
      name: 'voicectl',
      ...countsOf(suites.flatMap(({ cases }) => cases)),
      time: secondsText(suites.reduce((sum, { seconds }) => sum + seconds, 0)),
    },
  );
  for (const { name, startedAt, seconds, properties, cases } of suites) {
    const suite = root.ele('testsuite', {
      name: safeLine(name),
      ...countsOf(cases),
      skipped: '0',
      time: secondsText(seconds),
      timestamp: new Date(startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    });
    const list = suite.ele('properties');
    for (const [name, value] of properties)
      list.ele('property', { name: safeLine(name), value: safeLine(value) });
    for (const { name, classname, seconds, outcome, out } of cases) {
      const testcase = suite.ele('testcase', { name: safeLine(name), classname, time: secondsText(seconds) });
      if (outcome !== undefined) {
        const { element, type, message } = outcome;
        testcase.ele(element, { type, message: safeLine(message) }).txt(safeLine(message));
      }
      testcase.ele('system-out').txt(out.map(safeLine).join('\n'));
    }
  }
  return `${root.end({ prettyPrint: true })}\n`;
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
  const judged = verdicts.map(({ name, ok, expected, measured, kind }): TestCase => {
    const text = `expected ${expected}, measured ${measured}`;
    return {
      name: `${name}: ${expected}`,
      classname,
      seconds: 0,
      ...(ok ? {} : { outcome: { element: 'failure', type: kind ?? 'bug', message: text } }),
      out: [text],
    };
  });
  return {
    name: isOneOfMany ? `${name}, run ${run}` : name,
    startedAt,
    seconds: elapsedMs / 1000,
    properties: propertiesOf(summary, failure),
    cases: [session, ...judged],
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

function countsOf(cases: readonly TestCase[]) {
  const count = (element: 'failure' | 'error') =>
    String(cases.filter(({ outcome }) => outcome?.element === element).length);
  return { tests: String(cases.length), failures: count('failure'), errors: count('error') };
}

function secondsText(seconds: number): string {
  return seconds.toFixed(3);
}

/** Control characters are not allowed in XML, not even as references. */
function safeLine(text: string): string {
  return escapeText(text);
}
