import type { OptionOf } from '../../config/options.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { loadSummaryObject } from '../../report/load-json.ts';
import { loadSummaryLines } from '../../report/load-lines.ts';
import { runOfLoad } from '../../runs/compare/load-run.ts';
import type { JudgedResult, LoadSummary } from '../../runs/load/summary.ts';
import type { CommandContext } from '../command.ts';
import type { JudgeByBaseline } from '../compare/baseline.ts';
import type { MakeReport } from '../run-reporter.ts';

export type LoadReportContext = CommandContext<OptionOf<'load merge'>>;

interface FinishOptions {
  report: (make: MakeReport) => void;
  /** Why the run ended early. */
  ended?: VoicectlError | undefined;
  judge: JudgeByBaseline | undefined;
}

/** Prints a result, writes the reports that are asked for, and throws what the run has come to. */
export async function finishLoad(
  context: LoadReportContext,
  { result, summary }: JudgedResult,
  { report, ended, judge }: FinishOptions,
): Promise<number> {
  const { settings, io, json, style, note } = context;
  const own = ended ?? verdictOf(summary);
  const compared = await judge?.(() => runOfLoad(result, 'this run'), { hasFailed: own !== undefined });
  const error = own ?? compared?.error;
  const exitCode = error?.exitCode ?? 0;
  const { resultOut, html } = settings;
  report(async () => {
    const { loadReport } = await import('../../report/load-report.ts');
    const found = loadReport(summary, exitCode);
    return compared?.reported(found) ?? found;
  });
  const options = { giveUp: io.giveUp };
  if (resultOut !== undefined) {
    await writeWhole(resultOut, `${JSON.stringify(result)}\n`, options);
    await note(`Wrote ${resultOut}`);
  }
  if (html !== undefined) {
    const { loadPage } = await import('../../report/load-page.ts');
    await writeWhole(html, loadPage(summary, compared?.page), options);
    await note(`Wrote ${html}`);
  }
  const text = compared?.text ?? '';
  await io.stdout.write(
    json
      ? `${text}${jsonLine(loadSummaryObject(summary, exitCode))}`
      : `\n${loadSummaryLines(summary, style).join('\n')}\n${text}`,
  );
  if (error !== undefined) throw error;
  return exitCode;
}

/** What a result comes to: a run that is not valid says nothing about thresholds. */
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
