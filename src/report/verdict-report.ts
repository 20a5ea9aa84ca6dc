import type { CheckResult } from '../conformance/check.ts';
import type { DrillResult } from '../conformance/drill/drill.ts';
import { isFailed } from '../conformance/verdicts.ts';
import type { VoicectlError } from '../kernel/errors.ts';
import { failureKind } from '../kernel/failure-kind.ts';
import type { Finding, Verdict } from '../rules/rule.ts';
import { exchangeLine, maxExchanges } from './check-evidence.ts';
import { againLine, type DrillCommand, evidenceLines } from './drill-lines.ts';
import type { Block, RunReport, TestCase } from './run-report.ts';
import { countsText, expectedText, messageText } from './verdict-lines.ts';

export interface CheckReport {
  /** What was checked, for people: `https://voice.example`. */
  subject: string;
  startedAt: number;
  result: CheckResult;
  /** Whether `warn` and `unknown` count as failures. */
  strict: boolean;
}

/** A check, for pipelines: a case for each rule. */
export function checkReport({ subject, startedAt, result, strict }: CheckReport): RunReport {
  const { rules, spent } = result;
  return verdictReport({
    ...result,
    ...{ command: 'check', subject, noun: 'rule', startedAt },
    items: rules.map((judged) => ({
      ...judged.rule,
      finding: judged.finding,
      expected: judged.expected,
      seconds: 0,
      lines: judged.evidence.slice(0, maxExchanges).map((seen) => `${seen.id}: ${exchangeLine(seen)}`),
      isFailed: isFailed(judged, strict),
    })),
    properties: [
      ['tokenRequests', String(spent.tokens)],
      ['connections', String(spent.connections)],
    ],
  });
}

export interface DrillReport {
  /** The device, for people. */
  subject: string;
  command: DrillCommand;
  startedAt: number;
  result: DrillResult;
}

const mostLines = 20;

/** A drill, for pipelines: a case for each situation. */
export function drillReport({ subject, command, startedAt, result }: DrillReport): RunReport {
  return verdictReport({
    ...result,
    ...{ command: 'drill', subject, noun: 'situation', startedAt },
    items: result.drilled.map((drilled) => {
      const { id, title, rule, finding, elapsedMs } = drilled;
      return {
        ...{ id, title, finding, says: rule.says, seconds: elapsedMs / 1000 },
        lines: [...evidenceLines(drilled, mostLines), `again: ${againLine(drilled, command)}`],
        isFailed: isFailed(drilled, false),
      };
    }),
    properties: [],
  });
}

/** Something that got a verdict. */
interface JudgedItem {
  id: string;
  title: string;
  says: string;
  finding: Finding;
  /** Evidence, one line each. */
  lines: readonly string[];
  seconds: number;
  /** Whether it counts as a failure. */
  isFailed: boolean;
  /** Why it is expected to fail. */
  expected?: string | undefined;
}

/** A run in which each item got a verdict. */
interface JudgedRun {
  command: string;
  subject: string;
  /** A word for an item: `rule`. */
  noun: string;
  startedAt: number;
  elapsedMs: number;
  items: readonly JudgedItem[];
  verdicts: Record<Verdict, number>;
  stopped: VoicectlError | undefined;
  exitCode: number;
  /** Further properties of the suite. */
  properties: readonly (readonly [name: string, value: string])[];
}

function verdictReport(run: JudgedRun): RunReport {
  const { command, subject, startedAt, elapsedMs, items, stopped, exitCode, properties } = run;
  const name = `${command} ${subject}`;
  const classname = `voicectl.${command}`;
  const seconds = elapsedMs / 1000;
  const cases = items.map((item) => caseOf(item, classname));
  const failures = items
    .filter(({ isFailed }) => isFailed)
    .map(({ id, title, finding }) => ({ title: `${name}: ${id} ${title}`, message: finding.message }));
  const kind = stopped && failureKind(stopped);
  if (stopped !== undefined && kind !== undefined) {
    const { message } = stopped;
    cases.unshift({
      name: 'run',
      classname,
      seconds,
      outcome: { element: 'error', type: kind, message },
      out: [],
    });
    failures.unshift({ title: `${name}: ${kind}`, message });
  }
  const suite = {
    name,
    startedAt,
    seconds,
    properties: [
      ['exitCode', String(exitCode)] as const,
      ...(kind === undefined ? [] : [['failureKind', kind] as const]),
      ...properties,
    ],
    cases,
  };
  return { name, suites: [suite], failures, blocks: blocksOf(run) };
}

const leftOut: readonly Verdict[] = ['skipped', 'unknown', 'fail'];

function caseOf(item: JudgedItem, classname: string): TestCase {
  const { id, title, says, finding, lines, seconds, expected } = item;
  const { verdict, message } = finding;
  const common = { name: `${id}: ${title}`, classname, seconds };
  const meaning = expectedText(verdict, expected);
  const out = [says, `${verdict}: ${message}`, ...(meaning === undefined ? [] : [meaning]), ...lines];
  if (item.isFailed) return { ...common, outcome: { element: 'failure', type: verdict, message }, out };
  return leftOut.includes(verdict)
    ? { ...common, outcome: { element: 'skipped', type: verdict, message: meaning ?? message }, out }
    : { ...common, out };
}

/** What did not pass, and the counts. */
function blocksOf({ noun, items, verdicts, stopped }: JudgedRun): Block[] {
  const rows = items
    .filter(({ finding }) => finding.verdict !== 'pass' && finding.verdict !== 'skipped')
    .map(({ id, finding, title, expected }) => [
      id,
      expected === undefined ? { strong: finding.verdict } : finding.verdict,
      title,
      messageText(finding, expected),
    ]);
  return [
    ...(stopped === undefined ? [] : [[{ strong: failureKind(stopped) }, ` ${stopped.message}`]]),
    [countsText(verdicts)],
    ...(rows.length === 0 ? [] : [{ head: [noun, 'verdict', 'title', 'what was seen'], rows }]),
  ];
}
