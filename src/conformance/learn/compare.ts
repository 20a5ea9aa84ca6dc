import { createEmulator } from '../../emulator/emulator.ts';
import { createRedactor } from '../../kernel/redact.ts';
import { parseDialect } from '../../protocol/dialect.ts';
import type { Lesson } from './infer.ts';
import type { LearnOptions, LearnResult } from './learn.ts';
import { learnDialect } from './learn.ts';
import { type Difference, differences, learnedDialect } from './learned-dialect.ts';

/** The result of the same exchanges with an emulator of the learned dialect. */
export interface Comparison {
  /** The remaining differences: `expected` from the service, `found` at the emulator. */
  differences: readonly Difference[];
  /** What the emulator showed. */
  shown: Lesson;
}

/**
 * Starts an emulator with the learned dialect, repeats the exchanges, and lists the remaining differences. The clock of the
 * emulator is moved, so that nothing waits. Throws `bad-dialect` if the service does something that a dialect cannot express.
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
  return { differences: differAs(learned, again), shown: again };
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
