import { escapeText } from '../kernel/escape.ts';
import type { RepeatSummary, RunResult } from '../runs/repeat.ts';

export interface GithubReport {
  /** What was tested, for people: `stream hello.wav`. */
  name: string;
  runs: readonly RunResult[];
  /** Of several runs. */
  total?: RepeatSummary | undefined;
}

/** GitHub shows at most ten annotations of a step. */
export const maxAnnotations = 10;

/** Workflow commands that annotate each failure, one a line. */
export function githubAnnotations({ name, runs }: GithubReport): string[] {
  const lines = runs.flatMap(({ run, failure, summary }) => {
    if (failure === null) return [];
    const title = `voicectl ${name}${runs.length > 1 ? `, run ${run}` : ''}`;
    const failed = (summary?.verdicts ?? []).filter(({ ok }) => !ok);
    if (failure.code !== 'expectation-failed')
      return [annotation(`${title}: ${failure.kind}`, failure.message)];
    return failed.map(({ name, expected, measured, kind }) =>
      annotation(`${title}: ${kind}`, `${name}: expected ${expected}, measured ${measured}`),
    );
  });
  return lines.slice(0, maxAnnotations);
}

/** Escaped as in GitHub's toolkit: text of a service must not become a command. */
export function annotation(title: string, message: string): string {
  const data = (text: string) => escapeText(text).replaceAll('%', '%25');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::error title=${property(title)}::${data(message)}`;
}

/** The result as Markdown, for the page of the workflow's run. */
export function githubStepSummary({ name, runs, total }: GithubReport): string {
  const failed = runs.filter(({ failure }) => failure !== null);
  const mark = failed.length === 0 && runs.length > 0 ? '✅' : '❌';
  const blocks = [`### ${mark} voicectl ${text(name)}`];
  for (const { run, failure } of failed.slice(0, maxAnnotations)) {
    const which = runs.length > 1 ? `Run ${run}: ` : '';
    blocks.push(`${which}**${failure?.kind}** ${text(failure?.message ?? '')}`);
  }
  const verdicts = total?.verdicts ?? runs[0]?.summary?.verdicts ?? [];
  if (verdicts.length > 0) {
    const rows = verdicts.map(({ name, ok, skipped, expected, measured }) => [
      skipped ? 'skip' : ok ? 'pass' : '**FAIL**',
      name,
      expected,
      measured,
    ]);
    blocks.push(table(['', 'expectation', 'expected', 'measured'], rows));
  }
  blocks.push(total === undefined ? metricsTable(runs[0]) : spreadTable(total));
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function metricsTable(run: RunResult | undefined): string {
  const summary = run?.summary;
  if (summary === undefined) return '';
  const { tokenMs, connectMs, authoriseMs, firstAudioMs, longestGapMs, jitterMs, close } = summary;
  const rows = [
    ['audio sent', `${summary.out.audioMs} ms`],
    ['audio received', `${summary.in.audioMs} ms`],
    ['token', ms(tokenMs)],
    ['connect', ms(connectMs)],
    ['confirmed', ms(authoriseMs)],
    ['first audio', ms(firstAudioMs)],
    ['longest gap', ms(longestGapMs)],
    ['jitter, p95', ms(jitterMs?.p95 ?? null)],
    ['close', close === null ? '–' : `${close.code} ${close.name}`],
  ];
  return table(['metric', 'measured'], rows);
}

function spreadTable({ runs, passed, spread }: RepeatSummary): string {
  const rows = Object.entries(spread).map(([name, values]) =>
    values === null
      ? [name, '0', '–', '–', '–', '–']
      : [name, ...[values.count, values.min, values.median, values.p95, values.max].map(String)],
  );
  const head = table(['metric', 'runs', 'min', 'median', 'p95', 'max'], rows);
  return `${passed} of ${runs} runs passed.\n\n${head}`;
}

function ms(value: number | null): string {
  return value === null ? '–' : `${value} ms`;
}

/** A table of Markdown; cells that begin with two stars are marked text already. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const safe = rows.map((cells) => line(cells.map((cell) => (cell.startsWith('**') ? cell : text(cell)))));
  return [line(head), line(head.map(() => '---')), ...safe].join('\n');
}

/** Text that Markdown shows unchanged: all its punctuation is escaped. */
function text(raw: string): string {
  return escapeText(raw).replace(/[\\`*_{}[\]<>#|!~&]/g, '\\$&');
}
