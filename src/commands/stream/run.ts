import { basename } from 'node:path';
import { toVoicectlError, type VoicectlError } from '../../kernel/errors.ts';
import type { BaselineResult } from '../../report/compare-page.ts';
import type { RunReport } from '../../report/run-report.ts';
import type { SessionReport } from '../../report/session-report.ts';
import type { ResultLine } from '../../runs/compare/lines-run.ts';
import type { RepeatEvent, RepeatSummary, RunResult } from '../../runs/repeat.ts';
import type { ContextOf } from '../command.ts';
import type { BaselineVerdict } from '../compare/baseline.ts';
import { reportRun, writeRunFile } from '../run-reporter.ts';
import type { RunReports } from './run-sessions.ts';
import type { StreamView } from './view.ts';

export async function run(context: ContextOf<'stream'>): Promise<number> {
  const { settings } = context;
  if (settings.interactive) {
    const { runInteractive } = await import('./interactive/run-interactive.ts');
    await runInteractive(context);
    return 0;
  }
  const { junit } = settings;
  const startedAt = context.io.clock.wall();
  const subject = subjectOf(context);
  const runs: RunResult[] = [];
  let total: RepeatSummary | undefined;
  let failure: VoicectlError | undefined;
  let unwritten: VoicectlError | undefined;
  const reports: RunReports = {
    began() {
      runs.length = 0;
      total = undefined;
    },
    ran: (result: RunResult) => void runs.push(result),
    total(summary: RepeatSummary) {
      total = summary;
    },
  };
  await reportRun(context, { command: 'stream', subject, unit: 'session', junit }, async (report) => {
    const compared = await followBaseline(context);
    reports.passed = compared?.passed;
    report(async () => {
      const { sessionReport } = await import('../../report/session-report.ts');
      const found = sessionReport({ name: `stream ${subject}`, runs, total });
      return compared?.reported(found) ?? found;
    });
    // First, so that the drawing thread starts while the rest is loaded.
    const view = await openView(context);
    try {
      const { runSessions } = await import('./run-sessions.ts');
      await runSessions({ ...context, note: view.note }, view, reports);
    } catch (thrown) {
      failure = toVoicectlError(thrown);
      throw thrown;
    } finally {
      await view.close();
      await compared?.print();
      const found = { name: `stream ${subject}`, runs, total };
      const error = failure ?? compared?.error;
      unwritten = await writePage(context, found, {
        startedAt,
        failure,
        baseline: compared?.page,
        hasFailed: error !== undefined,
      });
    }
    if (unwritten !== undefined) throw unwritten;
    if (compared?.error !== undefined) throw compared.error;
  });
  return 0;
}

/** Writes the page of `--html`, also of sessions that failed. Returns what `writeRunFile` returns. */
async function writePage(
  context: ContextOf<'stream'>,
  found: SessionReport,
  { startedAt, failure, baseline, hasFailed }: PageFacts,
): Promise<VoicectlError | undefined> {
  return writeRunFile(context, { path: context.settings.html, hasFailed }, async () => {
    const { sessionPage } = await import('../../report/session-page.ts');
    return sessionPage(found, { startedAt, failure: failure?.message, baseline });
  });
}

interface PageFacts {
  /** When the command began, Unix milliseconds. */
  startedAt: number;
  failure: VoicectlError | undefined;
  baseline: BaselineResult | undefined;
  /** Whether the sessions, or their comparison, have failed. */
  hasFailed: boolean;
}

/** Compares the result of one or several sessions with the baseline. Undefined without `--baseline`. */
async function followBaseline(context: ContextOf<'stream'>) {
  if (context.settings.baseline === undefined) return undefined;
  const { json, lines } = context;
  const { openBaseline } = await import('../compare/baseline.ts');
  const { runOfLines } = await import('../../runs/compare/lines-run.ts');
  const judge = await openBaseline(context, context.origin('tolerance'));
  const seen: ResultLine[] = [];
  let verdict: BaselineVerdict | undefined;
  return {
    /** Handles an event before it is shown: with `--json` the summary is the last line. */
    async passed(event: RepeatEvent) {
      const isFirst = event.type === 'session' && seen.length === 0;
      if (!isFirst && event.type !== 'run' && event.type !== 'summary') return;
      seen.push({ line: seen.length + 1, value: { ...event } });
      if (event.type !== 'summary') return;
      const all = seen.splice(0);
      verdict = await judge?.(() => runOfLines(all, 'this run'), { hasFailed: event.failure !== null });
      if (json) await lines.write(verdict?.text ?? '');
    },
    async print() {
      if (!json && verdict !== undefined) await lines.write(verdict.text);
    },
    reported: (found: RunReport) => verdict?.reported(found) ?? found,
    get error() {
      return verdict?.error;
    },
    get page() {
      return verdict?.page;
    },
  };
}

/** Short name of the source. */
function subjectOf({ settings: { file, raw, replay, expectFile, mic } }: ContextOf<'stream'>): string {
  return basename(file ?? raw ?? replay ?? expectFile ?? (mic ? 'microphone' : ''));
}

async function openView(context: ContextOf<'stream'>): Promise<StreamView> {
  const { settings, io, output } = context;
  const { tokenFrom, out, record, recordBoth, mic, play } = settings;
  if (output !== 'tui' || io.terminal === undefined) {
    const { createStreamLines } = await import('./view.ts');
    return createStreamLines(context);
  }
  const { createStreamScreen } = await import('./screen.ts');
  // Another session needs a new token and a source that can restart, and must not overwrite files of the first.
  const once = tokenFrom ?? out ?? record ?? recordBoth;
  return createStreamScreen(context, {
    device: io.terminal,
    sourceName: subjectOf(context),
    canMute: mic === true,
    canReconnect: once === undefined && !mic && !play,
  });
}
