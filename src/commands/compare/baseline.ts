import type { Origin } from '../../config/settings.ts';
import { requireWritable, writeWhole } from '../../files/output-file.ts';
import { readText } from '../../files/read-text.ts';
import { systemCode } from '../../files/refusal.ts';
import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { countText } from '../../protocol/count-text.ts';
import { compareLines, comparisonText } from '../../report/compare-lines.ts';
import type { BaselineResult } from '../../report/compare-page.ts';
import { comparisonObject, comparisonReport, withComparison } from '../../report/compare-report.ts';
import type { RunReport } from '../../report/run-report.ts';
import type { RunComparison } from '../../runs/compare/compare-runs.ts';
import type { RunSet } from '../../runs/compare/run-set.ts';
import type { CommandContext } from '../command.ts';

type BaselineContext = Pick<
  CommandContext<'baseline' | 'updateBaseline'>,
  'settings' | 'io' | 'stdin' | 'signal' | 'json' | 'quiet' | 'style' | 'note'
> & { settings: Partial<CommandContext<'tolerance'>['settings']> };

/** The outcome of a comparison with a baseline. */
export interface BaselineVerdict {
  /** The printed text: lines, or an object with `--json`. Empty if there was nothing to compare with, or nothing that `--quiet` prints. */
  text: string;
  /** Why the run fails, if it does. */
  error: VoicectlError | undefined;
  /** How a page shows it. */
  page: BaselineResult;
  reported(found: RunReport): RunReport;
}

/**
 * Compares a run with the baseline, and with `--update-baseline` adds it, unless it failed. Does not throw: the run has
 * its result.
 */
export type JudgeByBaseline = (
  run: () => RunSet | Promise<RunSet>,
  about: { hasFailed: boolean },
) => Promise<BaselineVerdict>;

/**
 * Reads the baseline of a command before its run starts. Undefined without `--baseline`. Throws `bad-input` for a file that is not
 * a baseline or is missing, unless `--update-baseline` creates it; `input-output` if that could not write it.
 */
export async function openBaseline(
  context: BaselineContext,
  toleranceOrigin?: Origin,
): Promise<JudgeByBaseline | undefined> {
  const { baseline: path, updateBaseline = false } = context.settings;
  if (path === undefined) return undefined;
  const { readRuns } = await import('../../runs/compare/read-runs.ts');
  const content = await readText(path, context).catch((thrown) => {
    const isMissing = thrown instanceof VoicectlError && systemCode(thrown.cause) === 'ENOENT';
    if (isMissing && updateBaseline) return undefined;
    throw isMissing ? missing(thrown) : thrown;
  });
  const base = content === undefined ? undefined : readRuns(content, path);
  if (updateBaseline) await requireWritable(path);
  return async (run, { hasFailed }) => {
    try {
      return await judge(context, { path, base, run: await run(), hasFailed, toleranceOrigin });
    } catch (thrown) {
      const error = toVoicectlError(thrown);
      return notCompared(error.message, error);
    }
  };
}

function notCompared(why: string, error: VoicectlError | undefined): BaselineVerdict {
  const page = { why, isFailure: error !== undefined };
  return { text: '', error, page, reported: (found) => found };
}

function missing({ code, message, cause, details }: VoicectlError): VoicectlError {
  return new VoicectlError(code, message, { hint: '--update-baseline creates a baseline.', cause, details });
}

interface Judged {
  path: string;
  base: RunSet | undefined;
  run: RunSet;
  hasFailed: boolean;
  toleranceOrigin: Origin | undefined;
}

async function judge(
  context: BaselineContext,
  { path, base, run, hasFailed, toleranceOrigin }: Judged,
): Promise<BaselineVerdict> {
  const { settings, io, json, quiet, style } = context;
  const [next] = run.runs;
  if (base === undefined) {
    const isValid = next.invalid.length === 0;
    if (isValid && !hasFailed) await write(context, path, base, run);
    else await context.note(`${path} was not created: this run ${isValid ? 'failed' : 'is not valid'}`);
    if (!isValid)
      return notCompared('this run is not valid, so no baseline was created', notValid(next.invalid));
    return notCompared(hasFailed ? `${path} was not created` : `${path} starts with this run`, undefined);
  }
  const { compareRuns, tolerancesFor } = await import('../../runs/compare/compare-runs.ts');
  const tolerances = tolerancesFor([base, run], settings.tolerance ?? [], toleranceOrigin);
  const comparison = compareRuns(base, run, tolerances);
  const worse = comparisonError(comparison);
  let unwritten: VoicectlError | undefined;
  if (settings.updateBaseline) {
    if (worse === undefined && !hasFailed)
      unwritten = await write(context, path, base, run).then(() => undefined, toVoicectlError);
    else if (worse === undefined) await context.note(`This run was not added to ${path}: it failed`);
    else
      await context.note(
        `This run was not added to ${path}. If it is the new normal, remove the file to start a new baseline.`,
      );
  }
  const error = worse ?? unwritten;
  const lines = quiet && !isShownQuietly(comparison) ? [] : ['', ...compareLines(comparison, style), ''];
  return {
    text: json ? jsonLine(comparisonObject(comparison, error?.exitCode ?? 0)) : lines.join('\n'),
    error,
    page: { comparison },
    reported: (found) => withComparison(found, comparisonReport(comparison, { startedAt: io.clock.wall() })),
  };
}

async function write(
  { io, note }: BaselineContext,
  path: string,
  base: RunSet | undefined,
  run: RunSet,
): Promise<void> {
  const { addToBaseline, isInBaseline } = await import('../../runs/compare/baseline.ts');
  if (base !== undefined && isInBaseline(base, run)) {
    await note(`${path} already contains this run`);
    return;
  }
  const { fewestRuns } = await import('../../runs/compare/run-set.ts');
  const { text, count } = addToBaseline(base, run);
  await writeWhole(path, text, { giveUp: io.giveUp });
  const isEnough = count >= fewestRuns || run.runs[0].figures.length === 0;
  const more = isEnough
    ? ''
    : `; ${fewestRuns - count} more are needed before a comparison can tell whether it got worse`;
  await note(`Wrote ${path}: ${countText(count, 'run')}${more}`);
}

/** The error of a comparison: `not-valid`, or that it got worse. */
export function comparisonError(comparison: RunComparison): VoicectlError | undefined {
  const { verdict, invalid } = comparison;
  const text = comparisonText(comparison);
  if (verdict === 'not valid') return notValid(invalid);
  if (verdict !== 'worse' && verdict !== 'changed') return undefined;
  return new VoicectlError('expectation-failed', `${text[0]?.toUpperCase()}${text.slice(1)}`, {
    details: { kind: 'worse' },
  });
}

/** Whether a comparison is a warning or an error, which `--quiet` prints too. */
export function isShownQuietly({ verdict }: Pick<RunComparison, 'verdict'>): boolean {
  return verdict !== 'better' && verdict !== 'same';
}

function notValid(invalid: readonly string[]): VoicectlError {
  return new VoicectlError('not-valid', `Not valid: ${invalid.join('; ')}`, {
    hint: 'Repeat the run that is not valid.',
  });
}
