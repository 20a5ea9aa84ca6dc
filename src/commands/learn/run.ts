import { readDialect } from '../../config/dialect-file.ts';
import { type Comparison, compareWithEmulator } from '../../conformance/learn/compare.ts';
import { dialectYaml } from '../../conformance/learn/dialect-yaml.ts';
import { type LearnOptions, type LearnResult, learnDialect } from '../../conformance/learn/learn.ts';
import { differences } from '../../conformance/learn/learned-dialect.ts';
import { planRun } from '../../conformance/plan.ts';
import { readText } from '../../files/read-text.ts';
import { exitCodes } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { type DialectInput, dialectSchema } from '../../protocol/dialect.ts';
import { comparisonLines, differenceLines, headLines, learnObject } from '../../report/learn-lines.ts';
import type { ContextOf } from '../command.ts';
import { followSteps, openExchanges, printPlan, scopeOf, subjectName } from '../conformance/exchanges.ts';
import { createProgress } from '../conformance/progress.ts';
import { writeRunFile } from '../run-reporter.ts';

export async function run(context: ContextOf<'learn'>): Promise<number> {
  const { settings } = context;
  if (settings.dryRun) {
    await printPlan(context, scopeOf(context));
    return 0;
  }
  // Before anything is asked: a file that cannot be read is no reason to have asked.
  const base = await openDialect(context, settings.merge);
  const known = await openDialect(context, settings.diff);
  const { learned, options } = await learn(context);
  const { stopped } = learned;
  if (stopped?.details.isTrouble === true) throw stopped;
  const hasLearned = learned.settings.some((one) => 'value' in one.learned);
  if (known !== undefined) {
    const code = await printDifferences(context, learned, known);
    if (stopped === undefined) return code;
  } else if (stopped === undefined || hasLearned) await write(context, learned, base);
  // The user or a time limit stopped it: what was learned until then is written.
  if (stopped !== undefined) throw stopped;
  return printComparison(context, learned, options);
}

async function openDialect(
  { io, signal }: ContextOf<'learn'>,
  path: string | undefined,
): Promise<DialectInput | undefined> {
  return path === undefined
    ? undefined
    : readDialect(await readText(path, { stdin: io.stdin, signal }), path);
}

async function learn(context: ContextOf<'learn'>): Promise<{ learned: LearnResult; options: LearnOptions }> {
  const scope = scopeOf(context);
  const { options: shared, close } = await openExchanges(context, scope);
  const options = { ...shared, signal: context.signal };
  try {
    return { learned: await followed(context, options, learnDialect), options };
  } finally {
    await close();
  }
}

/** Holds the exchanges of a run, and shows how far it is. */
async function followed<T>(
  context: ContextOf<'learn'>,
  options: LearnOptions,
  hold: (options: LearnOptions) => Promise<T>,
): Promise<T> {
  const progress = createProgress(context);
  const follow = followSteps(planRun(options.scope), { ...context, show: progress.show });
  try {
    return await hold({ ...options, ...follow });
  } finally {
    progress.clear();
  }
}

async function printDifferences(
  { io, json, settings }: ContextOf<'learn'>,
  learned: LearnResult,
  known: DialectInput,
): Promise<number> {
  const found = differences(learned, dialectSchema.parse(known));
  const lines = differenceLines(found, { file: settings.diff ?? '' });
  const text = json ? jsonLine(learnObject(learned, found)) : lines.map((line) => `${line}\n`).join('');
  await io.stdout.write(text);
  return found.length === 0 ? 0 : exitCodes['expectation-failed'];
}

async function write(
  context: ContextOf<'learn'>,
  learned: LearnResult,
  base: DialectInput | undefined,
): Promise<void> {
  const { io, json, settings } = context;
  const text = dialectYaml(learned, { lines: headLines(learned, subjectName(context)) }, base);
  const { dialectOut } = settings;
  if (dialectOut !== undefined) {
    const unwritten = await writeRunFile(context, { path: dialectOut, hasFailed: false }, () => text);
    if (unwritten !== undefined) throw unwritten;
  } else if (!json) await io.stdout.write(text);
  if (json) await io.stdout.write(jsonLine(learnObject(learned)));
}

/** What the emulator of this dialect still answers differently. */
async function printComparison(
  context: ContextOf<'learn'>,
  learned: LearnResult,
  options: LearnOptions,
): Promise<number> {
  const compared: Comparison = await followed(context, options, (followedOptions) =>
    compareWithEmulator(learned, followedOptions),
  );
  for (const line of comparisonLines(compared.differences)) await context.note(line);
  return 0;
}
