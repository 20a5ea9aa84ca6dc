import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import type { BaselineResult } from '../../report/compare-page.ts';
import { failureOf, loadSummaryLines, loadSummaryObject } from '../../report/load-lines.ts';
import { runOfLoad } from '../../runs/compare/load-run.ts';
import type { JudgedResult } from '../../runs/load/summary.ts';
import { whyInvalid } from '../../runs/load/validity.ts';
import type { ContextOf } from '../command.ts';
import type { JudgeByBaseline } from '../compare/baseline.ts';
import { type MakeReport, writeRunFile } from '../run-reporter.ts';

interface FinishOptions {
  report: (make: MakeReport) => void;
  /** Why the run ended early. */
  ended?: VoicectlError | undefined;
  judge: JudgeByBaseline | undefined;
}

/** Prints a result (with `--quiet` only of a run that failed), writes the requested reports, and throws if the run failed. */
export async function finishLoad(
  context: ContextOf<'load merge'>,
  { result, summary }: JudgedResult,
  { report, ended, judge }: FinishOptions,
): Promise<number> {
  const { io, json, quiet, style } = context;
  const own = ended ?? errorOf({ result, summary });
  const compared = await judge?.(() => runOfLoad(result, 'this run'), { hasFailed: own !== undefined });
  const error = own ?? compared?.error;
  const hasFailed = error !== undefined;
  const files = await writeFiles(context, { result, summary, hasFailed, baseline: compared?.page });
  const outcome = error ?? files;
  const exitCode = outcome?.exitCode ?? 0;
  report(async () => {
    const { loadReport } = await import('../../report/load-report.ts');
    const found = loadReport(summary, outcome);
    return compared?.reported(found) ?? found;
  });
  const text = compared?.text ?? '';
  if (json) await io.stdout.write(`${text}${jsonLine(loadSummaryObject(summary, exitCode))}`);
  else if (!quiet || outcome !== undefined)
    await io.stdout.write(`\n${loadSummaryLines(summary, style).join('\n')}\n${text}`);
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

function errorOf({ result, summary }: JudgedResult): VoicectlError | undefined {
  const failure = failureOf(summary);
  switch (failure?.is) {
    case undefined:
      return undefined;
    case 'not-valid':
      return new VoicectlError('not-valid', `The measurement is not valid: ${summary.invalid.join('; ')}`, {
        ...(whyInvalid(result).length === 0
          ? {}
          : { hint: 'Use more processes or machines, a lower rate, or a dedicated machine.' }),
      });
    case 'crossed':
      return failed(`${failure.text}: ${failure.crossed.map(({ text }) => text).join(', ')}`);
    case 'unconfirmed':
      return failed(failure.text);
  }
}

function failed(message: string): VoicectlError {
  return new VoicectlError('expectation-failed', message, { details: { kind: 'threshold' } });
}
