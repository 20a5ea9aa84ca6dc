import { basename } from 'node:path';
import type { RepeatSummary, RunResult } from '../../runs/repeat.ts';
import { reportRun } from '../run-reporter.ts';
import type { StreamContext, StreamView } from './view.ts';

export async function run(context: StreamContext): Promise<number> {
  const { settings } = context;
  if (settings.interactive) {
    const { runInteractive } = await import('./interactive/run-interactive.ts');
    await runInteractive(context);
    return 0;
  }
  const { junit } = settings;
  const subject = subjectOf(context);
  const runs: RunResult[] = [];
  let total: RepeatSummary | undefined;
  const reports = {
    ran: (result: RunResult) => void runs.push(result),
    total(summary: RepeatSummary) {
      total = summary;
    },
  };
  await reportRun(context, { command: 'stream', subject, unit: 'session', junit }, async (report) => {
    report(async () => {
      const { sessionReport } = await import('../../report/session-report.ts');
      return sessionReport({ name: `stream ${subject}`, runs, total });
    });
    // First, so that the drawing thread starts while the rest is loaded.
    const view = await openView(context);
    try {
      const { runSessions } = await import('./run-sessions.ts');
      await runSessions({ ...context, note: view.note }, view, reports);
    } finally {
      await view.close();
    }
  });
  return 0;
}

/** Short name of the source. */
function subjectOf({ settings: { file, raw, replay, expectFile, mic } }: StreamContext): string {
  return basename(file ?? raw ?? replay ?? expectFile ?? (mic ? 'microphone' : ''));
}

async function openView(context: StreamContext): Promise<StreamView> {
  const { settings, io, output } = context;
  const { repeat, warmup, tokenFrom, out, record, recordBoth, mic, play } = settings;
  // A screen shows one session. For several, lines show the figures.
  if (output !== 'tui' || io.terminal === undefined || repeat + warmup > 1) {
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
