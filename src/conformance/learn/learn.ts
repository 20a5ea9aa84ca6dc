import { createEmulator } from '../../emulator/emulator.ts';
import type { VoicectlError } from '../../kernel/errors.ts';
import { createRedactor } from '../../kernel/redact.ts';
import { parseDialect } from '../../protocol/dialect.ts';
import { type Cost, noCost } from '../cost.ts';
import { createExchangeRun, type ExchangeRunOptions } from '../exchange-run.ts';
import { planRun } from '../plan.ts';
import { serviceTrouble } from '../stop.ts';
import type { RunConclusion } from '../verdicts.ts';
import { inferDialect, type Lesson } from './infer.ts';
import { type Difference, differences, learnedDialect } from './learned-dialect.ts';
import { confirmedAt, createView, type LearnView, presentedAt } from './view.ts';

export type LearnOptions = Omit<ExchangeRunOptions, 'plan'>;

export interface LearnResult extends Lesson, Pick<RunConclusion, 'stopped'> {
  spent: Cost;
  /** Whether a token was granted, and a stream confirmed if one was asked for: without these there is no dialect. */
  hasDialect: boolean;
}

/** Precision of the time of a close if time is moved. */
const grainMs = 250;

/** Runs the exchanges of `check` once and draws the conclusions. After an abort, the result is what was found so far. */
export async function learnDialect(options: LearnOptions): Promise<LearnResult> {
  const { scope } = options;
  const plan = planRun(scope);
  // No second try: a dialect describes what was seen.
  const once = { ...plan, confirmCost: noCost };
  const run = createExchangeRun({ ...options, grainMs, plan: once });
  const { seen } = await run.hold(plan.steps);
  const nothing = whyNothing(createView(seen));
  const { spent, stopped = nothing } = run;
  return { ...inferDialect(seen, scope.waitMs), spent, stopped, hasDialect: nothing === undefined };
}

/** Why a service whose answers were all seen has no dialect: it does not do what a dialect is about. */
function whyNothing({ grants, streams }: LearnView): VoicectlError | undefined {
  const hint = '`voicectl check` shows what it does instead.';
  if (grants.length === 0)
    return serviceTrouble('protocol-violation', 'No answer from the service contains a usable token', hint);
  const presented = streams.filter((stream) => presentedAt(stream) !== undefined);
  return presented.length > 0 && presented.every((stream) => confirmedAt(stream) === undefined)
    ? serviceTrouble('protocol-violation', 'The service confirmed no stream', hint)
    : undefined;
}

/** The result of the same exchanges with an emulator of the learned dialect. */
export interface Comparison {
  /** The remaining differences: `expected` from the service, `found` at the emulator. */
  differences: readonly Difference[];
  /** What the emulator showed. */
  shown: Lesson;
  /** Trouble with the emulator before all was compared. */
  stopped: VoicectlError | undefined;
}

/**
 * Starts an emulator with the learned dialect, repeats the exchanges, and lists the remaining differences. The clock of the
 * emulator is moved, so that nothing waits. Throws `bad-dialect` if the service does something that a dialect cannot express, and
 * the reason if the user, the system or a time limit stops it: half of a comparison says nothing.
 */
export async function compareWithEmulator(learned: LearnResult, options: LearnOptions): Promise<Comparison> {
  const { apiKey } = options.subject;
  const dialect = learnedDialect(learned);
  const { rateLimit } = learned;
  await using emulator = await createEmulator({
    dialect,
    acceptKeys: [apiKey],
    clock: options.clock,
    ...(rateLimit === undefined ? {} : { rateLimit }),
  });
  const redactor = createRedactor();
  redactor.conceal(apiKey);
  const { baseUrl, wsUrl } = emulator;
  const again = await learnDialect({
    ...options,
    subject: { baseUrl, wsUrl, apiKey, ca: undefined, caFile: undefined },
    scope: { ...options.scope, isSecure: false, isLoopback: true },
    redactor,
    isEmulator: true,
  });
  const { stopped } = again;
  if (stopped !== undefined && stopped.details.isTrouble !== true) throw stopped;
  return { differences: differAs(learned, again), shown: again, stopped };
}

/** The settings and the outcomes of streams with a value on both sides that differs. */
function differAs(service: Lesson, emulator: Lesson): Difference[] {
  const parsed = parseDialect(learnedDialect(service));
  if (!parsed.ok) return [];
  const determined = new Set(
    service.settings.flatMap(({ setting, learned }) => ('value' in learned ? [setting.path] : [])),
  );
  const ofSettings = differences(emulator, parsed.dialect).filter(({ path }) => determined.has(path));
  const ofOutcomes = [...service.outcomes].flatMap(([path, expected]) => {
    const found = emulator.outcomes.get(path) ?? expected;
    return found === expected ? [] : [{ path, expected, found, evidence: '' }];
  });
  return [...ofSettings, ...ofOutcomes];
}
