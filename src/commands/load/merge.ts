import { readText } from '../../files/read-text.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { readResult } from '../../runs/load/read-result.ts';
import { mergeResults } from '../../runs/load/result.ts';
import { judgeResult } from '../../runs/load/summary.ts';
import type { ContextOf } from '../command.ts';
import { openBaseline } from '../compare/baseline.ts';
import { type MakeReport, reportRun } from '../run-reporter.ts';
import { finishLoad } from './finish.ts';
import { thresholdsFor, thresholdsOf } from './order.ts';

export async function run(context: ContextOf<'load merge'>): Promise<number> {
  const { settings, args } = context;
  return reportRun(context, { command: 'load', subject: args.join(' '), junit: settings.junit }, (report) =>
    merge(context, report),
  );
}

async function merge(context: ContextOf<'load merge'>, report: (make: MakeReport) => void): Promise<number> {
  const { args, settings, origin } = context;
  const judge = await openBaseline(context, context.origin('tolerance'));
  const read = async (path: string) => readResult(await readText(path, context), path);
  const [first, ...others] = await Promise.all(args.map(read));
  if (first === undefined) throw new VoicectlError('usage', 'There is no result to merge');
  const parts = mergeResults([first, ...others]);
  const { task, clean } = parts.facts;
  const thresholds = thresholdsOf(thresholdsFor(task, settings.threshold, origin('threshold')), clean);
  const judged = judgeResult(parts, thresholds, { isMerged: true });
  return finishLoad(context, judged, { report, judge });
}
