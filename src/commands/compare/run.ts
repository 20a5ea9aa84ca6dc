import { readText } from '../../files/read-text.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { compareLines } from '../../report/compare-lines.ts';
import { comparisonObject, comparisonReport } from '../../report/compare-report.ts';
import { compareRuns, tolerancesFor } from '../../runs/compare/compare-runs.ts';
import { readRuns } from '../../runs/compare/read-runs.ts';
import type { ContextOf } from '../command.ts';
import { reportRun, writeRunFile } from '../run-reporter.ts';
import { comparisonError, isShownQuietly } from './baseline.ts';

export async function run(context: ContextOf<'compare'>): Promise<number> {
  const { settings, origin, io, args, json, quiet, style } = context;
  const { junit, html, tolerance } = settings;
  const [before = '', now = ''] = args;
  if (before === '-' && now === '-')
    throw new VoicectlError('usage', 'Only one of the results can be standard input');
  return reportRun(context, { command: 'compare', subject: args.join(' '), junit }, async (report) => {
    const read = async (path: string) => readRuns(await readText(path, context), path);
    const [a, b] = [await read(before), await read(now)];
    const comparison = compareRuns(a, b, tolerancesFor([a, b], tolerance, origin('tolerance')));
    report(() => comparisonReport(comparison, { startedAt: io.clock.wall() }));
    const worse = comparisonError(comparison);
    const file = { path: html, hasFailed: worse !== undefined };
    const unwritten = await writeRunFile(context, file, async () => {
      const { comparisonPage } = await import('../../report/compare-page.ts');
      return comparisonPage(comparison);
    });
    const error = worse ?? unwritten;
    if (json || !quiet || isShownQuietly(comparison))
      await context.print(
        comparisonObject(comparison, error?.exitCode ?? 0),
        compareLines(comparison, style),
      );
    if (error !== undefined) throw error;
    return 0;
  });
}
