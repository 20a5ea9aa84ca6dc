import { secondsText } from '../protocol/time-text.ts';
import type { RepeatSummary, RunResult } from '../runs/repeat.ts';
import type { SessionSummary } from '../session/summary.ts';
import { addBaseline, type BaselineResult } from './compare-page.ts';
import { html } from './html.ts';
import { itemSections, linesBlock, type ReportItem, type ReportPage, reportPage } from './report-page.ts';
import type { SessionReport } from './session-report.ts';
import { plainStyle } from './style.ts';
import { summaryLines, summaryMsText, totalLines } from './summary-lines.ts';

/** One session, or several, as one page that needs nothing else. `failure`: why there is no session, if there is none. */
export function sessionPage(
  { name, runs, total }: SessionReport,
  {
    startedAt,
    failure,
    baseline,
  }: { startedAt: number; failure: string | undefined; baseline?: BaselineResult | undefined },
): string {
  const [first] = runs;
  const failed = runs.filter((run) => run.failure !== null);
  const isGood = failed.length === 0 && runs.length > 0 && failure === undefined && total?.ok !== false;
  const several = total !== undefined;
  const why = failure ?? failed[0]?.failure?.message ?? total?.failure?.message ?? 'no session finished';
  const text = several ? `${runs.length - failed.length} of ${runs.length} runs passed.` : '';
  const page = {
    title: `voicectl ${name}`,
    heading: name,
    verdict: isGood
      ? { tone: 'good', word: 'Passed', text: several ? text : 'The session ended as it should.' }
      : { tone: 'bad', word: 'Failed', text: `${why}. ${text}`.trim() },
    facts: [
      ['began', new Date((several ? undefined : first?.startedAt) ?? startedAt).toISOString()],
      ...(several ? totalFacts(total) : first?.summary === undefined ? [] : factsOf(first.summary)),
    ],
    body: html`${itemSections(
      runs.flatMap((run) => itemsOf(run, several)),
      several ? 'check' : 'expectation',
    )}${measured(several ? totalLines(total, plainStyle) : first?.summary && summaryLines(first.summary, plainStyle))}`,
  } satisfies ReportPage;
  return reportPage(addBaseline(page, baseline));
}

function measured(lines: readonly string[] | undefined) {
  return lines === undefined ? '' : html`<h2>Measured</h2>${linesBlock(lines, 'Measured')}`;
}

function totalFacts(total: RepeatSummary): [string, string][] {
  const { device, elapsedMs, spread } = total;
  return [
    ['device', device],
    ['took', secondsText(elapsedMs, 1)],
    ['first audio, median', summaryMsText(spread.firstAudioMs?.median ?? null)],
    ['longest gap, median', summaryMsText(spread.longestGapMs?.median ?? null)],
    ['received', secondsText(total.in.audioMs)],
  ];
}

function factsOf(summary: SessionSummary): [string, string][] {
  return [
    ['device', summary.device],
    ['took', secondsText(summary.elapsedMs, 1)],
    ['first audio', summaryMsText(summary.firstAudioMs)],
    ['longest gap', summaryMsText(summary.longestGapMs)],
    ['received', secondsText(summary.in.audioMs)],
  ];
}

function itemsOf({ run, summary, failure }: RunResult, several: boolean): ReportItem[] {
  const prefix = several ? `run ${run}` : 'session';
  const details =
    summary === undefined ? [] : [linesBlock(summaryLines(summary, plainStyle), `What ${prefix} measured`)];
  const isOwn = failure !== null && failure.code !== 'expectation-failed';
  const whole: ReportItem = {
    id: prefix.replace(' ', '-'),
    ...(several ? { name: prefix } : {}),
    title: isOwn ? failure.kind : 'ended as it should',
    tone: isOwn ? 'bad' : 'good',
    verdict: isOwn ? 'fail' : 'pass',
    message: isOwn ? failure.message : '',
    evidence: several ? { names: 'measured', details } : undefined,
  };
  const judged = (summary?.verdicts ?? []).map(
    ({ name, ok, skipped, expected, measured }, index): ReportItem => ({
      id: several ? `run-${run}-${index + 1}` : `expect-${index + 1}`,
      ...(several ? { name: prefix } : {}),
      title: name,
      tone: skipped ? 'muted' : ok ? 'good' : 'bad',
      verdict: skipped ? 'skipped' : ok ? 'pass' : 'fail',
      message: `expected ${expected}, measured ${measured}`,
    }),
  );
  return [whole, ...judged];
}
