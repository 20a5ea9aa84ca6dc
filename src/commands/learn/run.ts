import { readDialect } from '../../config/dialect-file.ts';
import type { Lesson } from '../../conformance/learn/infer.ts';
import {
  type Comparison,
  compareWithEmulator,
  type LearnOptions,
  type LearnResult,
  learnDialect,
} from '../../conformance/learn/learn.ts';
import { type Difference, dialectYaml, differences } from '../../conformance/learn/learned-dialect.ts';
import { planRun } from '../../conformance/plan.ts';
import { lookAt } from '../../files/output-file.ts';
import { readText } from '../../files/read-text.ts';
import { exitCodes } from '../../kernel/errors.ts';
import { escapeText, jsonLine, jsonText } from '../../kernel/escape.ts';
import { version } from '../../kernel/version.ts';
import { countText } from '../../protocol/count-text.ts';
import { type DialectInput, dialectSchema } from '../../protocol/dialect.ts';
import { tokenRequestsPerWindow } from '../../protocol/rate-limit.ts';
import type { ContextOf } from '../command.ts';
import { followSteps, openExchanges, printPlan, scopeOf, subjectName } from '../conformance/exchanges.ts';
import { createProgress } from '../conformance/run-verdicts.ts';
import { writeRunFile } from '../run-reporter.ts';

export async function run(context: ContextOf<'learn'>): Promise<number> {
  const { settings } = context;
  if (settings.dryRun) {
    await printPlan(context, scopeOf(context));
    return 0;
  }
  // Read the files first: one that cannot be read must fail before any request is sent.
  const base = await openDialect(context, settings.merge);
  const known = await openDialect(context, settings.diff);
  const { learned, options } = await learn(context);
  const { stopped } = learned;
  if (stopped?.details.isTrouble === true && !learned.hasDialect) throw stopped;
  const hasLearned = learned.settings.some((one) => 'value' in one.learned);
  if (known !== undefined) {
    const code = await printDifferences(context, learned, known);
    if (stopped === undefined) return code;
  } else if (stopped === undefined || hasLearned) await write(context, learned, base);
  // The user, a time limit or the service stopped it: what was learned by then is written.
  if (stopped !== undefined) throw stopped;
  return printComparison(context, learned, options);
}

async function openDialect(
  context: ContextOf<'learn'>,
  path: string | undefined,
): Promise<DialectInput | undefined> {
  return path === undefined ? undefined : readDialect(await readText(path, context), path);
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

/** Holds the exchanges of a run, and shows its progress. */
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
  { print, settings }: ContextOf<'learn'>,
  learned: LearnResult,
  known: DialectInput,
): Promise<number> {
  const found = differences(learned, dialectSchema.parse(known));
  await print(
    learnObject(learned, found),
    differenceLines(found, { file: settings.diff ?? '', isWhole: learned.stopped === undefined }),
  );
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
  if (await keepsEarlier(settings, learned)) {
    await context.note(
      `${dialectOut} is kept: what was learned before the run stopped is on standard output`,
    );
    if (!json) await io.stdout.write(text);
  } else if (dialectOut !== undefined) {
    const unwritten = await writeRunFile(context, { path: dialectOut, hasFailed: false }, () => text);
    if (unwritten !== undefined) {
      // The service was asked for it: what was learned is not lost.
      await io.stdout.write(json ? jsonLine(learnObject(learned)) : text);
      throw unwritten;
    }
  } else if (!json) await io.stdout.write(text);
  if (json) await io.stdout.write(jsonLine(learnObject(learned)));
}

/**
 * Whether `--out` stays as it was: the dialect of an earlier run is worth more than a part of one. With `--merge` of the same
 * file nothing of it is lost.
 */
async function keepsEarlier(
  { dialectOut, merge }: ContextOf<'learn'>['settings'],
  { stopped }: LearnResult,
): Promise<boolean> {
  if (stopped === undefined || dialectOut === undefined || dialectOut === merge) return false;
  const there = await lookAt(dialectOut);
  return there?.isFile() === true && there.size > 0;
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
  for (const line of comparisonLines(compared, learned.remarks)) await context.note(line);
  return 0;
}

/** The head of a learned dialect file. */
function headLines({ spent, rateLimit, stopped }: LearnResult, service: string): string[] {
  const { tokens, plain, connections } = spent;
  const isUsual = rateLimit === undefined || rateLimit === tokenRequestsPerWindow;
  return [
    `What ${service} does where the specification is silent, as voicectl ${version} learned it`,
    `from ${countText(tokens + plain, 'request')} and ${countText(connections, 'connection')}. The evidence is above each value.`,
    ...(stopped === undefined
      ? []
      : [`Stopped: ${stopped.message}. Settings that were not probed by then are missing.`]),
    ...(isUsual ? [] : [`It allows ${rateLimit} token requests per minute: serve --rate-limit ${rateLimit}`]),
  ];
}

/** A line for each setting that differs from the file. */
function differenceLines(
  found: readonly Difference[],
  { file, isWhole }: { file: string; isWhole: boolean },
): string[] {
  if (found.length === 0)
    return [
      isWhole
        ? `The service does what ${file} says.`
        : `No setting that was probed before the run stopped differs from ${file}.`,
    ];
  return found.map(({ path, expected, found: value, evidence }) =>
    escapeText(`${path}: ${file} says ${show(expected)}, the service ${show(value)} (${evidence})`),
  );
}

/** What the emulator of a learned dialect still answers differently. */
function comparisonLines({ differences: found, stopped }: Comparison, remarks: readonly string[]): string[] {
  if (found.length === 0 && stopped !== undefined)
    return [escapeText(`An emulator with this dialect could not be compared: ${stopped.message}`)];
  const same = 'An emulator with this dialect gives the same answers';
  if (found.length === 0)
    return [remarks.length === 0 ? `${same}.` : `${same}, except for what a dialect cannot express.`];
  return [
    'An emulator with this dialect still answers differently:',
    ...found.map(({ path, expected, found: value }) =>
      escapeText(`  ${path}: ${show(value)} instead of ${show(expected)}`),
    ),
  ];
}

/** A lesson for programs: each setting with its value and evidence, or why it is unknown. */
function learnObject({ settings, remarks, rateLimit }: Lesson, found?: readonly Difference[]) {
  return {
    version,
    settings: settings.map(({ setting: { path }, learned }) => ({ path, ...learned })),
    remarks,
    rateLimit,
    ...(found === undefined ? {} : { differences: found }),
  };
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : jsonText(value);
}
