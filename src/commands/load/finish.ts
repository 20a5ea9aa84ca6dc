import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import type { BaselineResult } from '../../report/compare-page.ts';
import { loadSummaryLines, loadSummaryObject } from '../../report/load-lines.ts';
import { runOfLoad } from '../../runs/compare/load-run.ts';
import type { JudgedResult, LoadSummary } from '../../runs/load/summary.ts';
import type { ContextOf } from '../command.ts';
import type { JudgeByBaseline } from '../compare/baseline.ts';
import { type MakeReport, writeRunFile } from '../run-reporter.ts';

interface FinishOptions {
  report: (make: MakeReport) => void;
  /** Why the run ended early. */
  ended?: VoicectlError | undefined;
  judge: JudgeByBaseline | undefined;
}

/** Prints a result, writes the requested reports, and throws if the run failed. */
export async function finishLoad(
  context: ContextOf<'load merge'>,
  { result, summary }: JudgedResult,
  { report, ended, judge }: FinishOptions,
): Promise<number> {
  const { io, json, style } = context;
  const own = ended ?? verdictOf(summary);
  const compared = await judge?.(() => runOfLoad(result, 'this run'), { hasFailed: own !== undefined });
  const error = own ?? compared?.error;
  const hasFailed = error !== undefined;
  const files = await writeFiles(context, { result, summary, hasFailed, baseline: compared?.page });
  const outcome = error ?? files;
  const exitCode = outcome?.exitCode ?? 0;
  report(async () => {
    const { loadReport } = await import('../../report/load-report.ts');
    const found = loadReport(summary, exitCode);
    return compared?.reported(found) ?? found;
  });
  const text = compared?.text ?? '';
  await io.stdout.write(
    json
      ? `${text}${jsonLine(loadSummaryObject(summary, exitCode))}`
      : `\n${loadSummaryLines(summary, style).join('\n')}\n${text}`,
  );
  if (outcome !== undefined) throw outcome;
  return exitCode;
}

/** Writes the requested files. Returns the first error of one that cannot be written. */
async function writeFiles(
  context: ContextOf<'load merge'>,
  {
    result,
    summary,
    hasFailed,
    baseline,
  }: JudgedResult & { hasFailed: boolean; baseline: BaselineResult | undefined },
): Promise<VoicectlError | undefined> {
  const { resultOut, html } = context.settings;
  const first = await writeRunFile(
    context,
    { path: resultOut, hasFailed },
    () => `${JSON.stringify(result)}\n`,
  );
  const second = await writeRunFile(context, { path: html, hasFailed }, async () => {
    const { loadPage } = await import('../../report/load-page.ts');
    return loadPage(summary, baseline);
  });
  return first ?? second;
}

/** Why the result is a failure, if it is: a run that is not valid says nothing about thresholds. */
function verdictOf({ invalid, thresholds, counts }: LoadSummary): VoicectlError | undefined {
  if (invalid.length > 0) {
    return new VoicectlError('not-valid', `The measurement is not valid: ${invalid.join('; ')}`, {
      hint: 'Use more processes or machines, a lower rate, or a dedicated machine.',
    });
  }
  const crossed = thresholds.filter(({ holds }) => !holds);
  if (crossed.length > 0) {
    const texts = crossed.map(({ text }) => text).join(', ');
    return failed(`${crossed.length} of ${thresholds.length} thresholds were crossed: ${texts}`);
  }
  if (counts.arrived > 0 && counts.confirmed === 0)
    return failed(`None of ${counts.arrived} sessions was confirmed`);
  return undefined;
}

function failed(message: string): VoicectlError {
  return new VoicectlError('expectation-failed', message, { details: { kind: 'threshold' } });
}
