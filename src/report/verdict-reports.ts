import type { Finding, Verdict } from '../rules/rule.ts';
import { annotation, maxAnnotations, table } from './github.ts';
import { suitesXml, type TestCase } from './junit-suites.ts';

/** Something that got a verdict, for the reports that pipelines read. */
export interface Reported {
  id: string;
  title: string;
  says: string;
  finding: Finding;
  /** Evidence, a line each. */
  lines: readonly string[];
  seconds: number;
  /** Whether it counts as a failure. */
  isFailed: boolean;
  /** Why it is known to fail. */
  expected?: string | undefined;
}

/** A run of which each item got a verdict. */
export interface VerdictReport {
  /** The command, and what it was about: `check https://voice.example`. */
  command: string;
  name: string;
  /** A word for an item: `rule`. */
  noun: string;
  startedAt: number;
  elapsedMs: number;
  items: readonly Reported[];
  verdicts: Record<Verdict, number>;
  stopped: { code: string; message: string } | undefined;
  exitCode: number;
  /** Further properties of the JUnit suite. */
  properties: readonly (readonly [name: string, value: string])[];
}

/** A case for each item. */
export function verdictJunit(report: VerdictReport): string {
  const { command, name, startedAt, elapsedMs, items, stopped, exitCode } = report;
  const classname = `voicectl.${command}`;
  const seconds = elapsedMs / 1000;
  const cases = items.map((item) => caseOf(item, classname));
  if (stopped !== undefined) {
    const outcome = { element: 'error', type: stopped.code, message: stopped.message } as const;
    cases.unshift({ name: 'run', classname, seconds, outcome, out: [] });
  }
  const properties = [['exitCode', String(exitCode)], ...report.properties] as const;
  return suitesXml([{ name: `${command} ${name}`, startedAt, seconds, properties, cases }]);
}

const leftOut: readonly Verdict[] = ['skipped', 'unknown', 'fail'];

function caseOf(item: Reported, classname: string): TestCase {
  const { id, title, says, finding, lines, seconds, expected } = item;
  const { verdict, message } = finding;
  const common = { name: `${id}: ${title}`, classname, seconds };
  const out = [says, `${verdict}: ${message}`, ...lines];
  if (item.isFailed) return { ...common, outcome: { element: 'failure', type: verdict, message }, out };
  const why = expected === undefined ? message : `expected: ${expected}`;
  return leftOut.includes(verdict)
    ? { ...common, outcome: { element: 'skipped', type: verdict, message: why }, out }
    : { ...common, out };
}

/** Workflow commands that mark each failed item. */
export function verdictAnnotations({ command, name, items, stopped }: VerdictReport): string[] {
  const about = `voicectl ${command} ${name}`;
  const lines = items
    .filter(({ isFailed }) => isFailed)
    .map(({ id, title, finding }) => annotation(`${about}: ${id} ${title}`, finding.message));
  if (stopped !== undefined) lines.unshift(annotation(`${about}: ${stopped.code}`, stopped.message));
  return lines.slice(0, maxAnnotations);
}

/** The result as Markdown, for the page of the workflow's run. */
export function verdictStepSummary(report: VerdictReport): string {
  const { command, name, noun, items, verdicts, exitCode } = report;
  const mark = exitCode === 0 ? '✅' : '❌';
  const rows = items
    .filter(({ finding }) => finding.verdict !== 'pass' && finding.verdict !== 'skipped')
    .map(({ id, finding, title }) => [id, `**${finding.verdict}**`, title, finding.message]);
  const counts = Object.entries(verdicts).map(([verdict, count]) => `${count} ${verdict}`);
  const heading = `### ${mark} voicectl ${`${command} ${name}`.replace(/[\\`*_<>|]/g, '\\$&')}`;
  return `${heading}\n\n${counts.join(', ')}\n\n${table([noun, 'verdict', 'title', 'what was seen'], rows)}\n`;
}
