import * as z from 'zod';
import { VoicectlError } from '../../kernel/errors.ts';
import { cutText, escapeText } from '../../kernel/escape.ts';
import { failureKinds, isOwnFailure } from '../../kernel/failure-kind.ts';
import { rankOf } from '../../kernel/nearest-rank.ts';
import { verdictNames } from '../../rules/rule.ts';
import { checkShape } from '../check-shape.ts';
import { maxLateMs } from '../load/validity.ts';
import { type Figure, failedShare, timeFigures } from './figure.ts';
import { type ComparedItem, type RunSet, sideRuleId } from './run-set.ts';

const ms = z.number().min(0).max(1e9).nullable();
/** Text that is cut if it is longer. */
export const textUpTo = (most: number) => z.string().transform((given) => escapeText(cutText(given, most)));
const spread = z.object({ p95: z.number().min(0).max(1e9) }).nullable();

const ruleId = z.string().regex(/^[A-Z]\d{1,4}$/, 'expected an ID such as R12');
const situationId = z.string().regex(/^[A-Za-z0-9-]{1,60}$/, 'expected an ID such as D9-1012');
export const verdictSchema = z.enum(verdictNames);
const common = { title: textUpTo(200), verdict: verdictSchema, message: textUpTo(2_000) };
const ruleSchema = z.object({ id: ruleId, ...common });
const drilledSchema = z.object({ id: situationId, situation: situationId, ...common });
const stoppedSchema = z.object({ stopped: z.object({ message: textUpTo(500) }).nullable() });

const sessionFigures = z.object({
  tokenMs: ms,
  connectMs: ms,
  authoriseMs: ms,
  firstAudioMs: ms,
  longestGapMs: ms,
  jitterMs: spread,
  sendLatenessMs: spread,
  dialogue: z
    .object({
      unjudged: z.string().nullable(),
      turns: z.array(z.object({ responseMs: ms, yieldMs: ms, talkOverMs: ms })).max(100_000),
    })
    .optional(),
});
const failureSchema = z
  .object({ kind: z.enum(Object.keys(failureKinds) as (keyof typeof failureKinds)[]) })
  .nullable();
const sessionSummary = sessionFigures.extend({ failure: failureSchema });
const totalSchema = z.object({
  runs: z.int().min(1).max(10_000),
  passed: z.int().min(0).max(10_000),
  failure: failureSchema,
});
const beginSchema = z.object({
  source: textUpTo(1_000),
  baseUrl: textUpTo(2_000),
  durationMs: z.number().min(0).max(1e12).optional(),
  pace: z.union([z.number(), textUpTo(20)]).default(1),
});

type SessionFigures = z.output<typeof sessionFigures>;

/** The values of a session that are compared, named as in `load`. */
const sessionMetrics = {
  token: ({ tokenMs }) => tokenMs,
  connect: ({ connectMs }) => connectMs,
  confirmed: ({ authoriseMs }) => authoriseMs,
  'first-audio': ({ firstAudioMs }) => firstAudioMs,
  response: (session) => turnsOf(session).map(({ responseMs }) => responseMs),
  yield: (session) => turnsOf(session).map(({ yieldMs }) => yieldMs),
  'talk-over': (session) => turnsOf(session).map(({ talkOverMs }) => talkOverMs),
  jitter: ({ jitterMs }) => jitterMs?.p95 ?? null,
  gap: ({ longestGapMs }) => longestGapMs,
} as const satisfies Record<string, (session: SessionFigures) => number | null | (number | null)[]>;

function turnsOf({ dialogue }: SessionFigures) {
  return dialogue === undefined || dialogue.unjudged !== null ? [] : dialogue.turns;
}

/** Sessions are measured to a tenth of a millisecond. */
const sessionResolutionMs = 0.1;

/** One JSON line of a result. */
export interface ResultLine {
  /** From 1. */
  line: number;
  value: Readonly<Record<string, unknown>>;
}

/**
 * The run that `check`, `drill` or `stream` printed with `--json`. Throws `bad-input`, with the line that is wrong, if it is
 * none of them, or if the summary is missing.
 */
export function runOfLines(lines: readonly ResultLine[], name: string): RunSet {
  const ofType = (type: string) => lines.filter(({ value }) => value.type === type);
  const summary = lines.at(-1)?.value.type === 'error' ? ofType('summary').at(-1) : lines.at(-1);
  if (summary?.value.type !== 'summary') throw refuseRun(name, 'it has no summary: the run did not end');
  const [rules, drilled] = [ofType('rule'), ofType('drill')];
  if (rules.length > 0) {
    const items = rules.map((line) => checkLine(ruleSchema, line, name));
    return verdictRun('check', items, checkLine(stoppedSchema, summary, name).stopped, name);
  }
  if (drilled.length > 0) {
    const items = drilled.map((line) => {
      const one = checkLine(drilledSchema, line, name);
      return one.id === one.situation ? one : { ...one, id: sideRuleId(one.situation, one.id) };
    });
    return verdictRun('drill', items, checkLine(stoppedSchema, summary, name).stopped, name);
  }
  return sessionRun(lines, summary, name);
}

function verdictRun(
  kind: 'check' | 'drill',
  items: readonly ComparedItem[],
  stopped: { message: string } | null,
  name: string,
): RunSet {
  return {
    ...{ kind, name, subject: '', plan: [] },
    runs: [
      {
        at: null,
        invalid: stopped === null ? [] : [`it ended early: ${stopped.message}`],
        figures: [],
        items: items.map(({ id, title, verdict, message }) => ({ id, title, verdict, message })),
      },
    ],
  };
}

function sessionRun(lines: readonly ResultLine[], summary: ResultLine, name: string): RunSet {
  const begin = lines.find(({ value }) => value.type === 'session');
  if (begin === undefined) throw refuseRun(name, 'it is not a result of check, drill or stream');
  const { source, baseUrl, durationMs, pace } = checkLine(beginSchema, begin, name);
  const isSingle = !('runs' in summary.value);
  const total = isSingle
    ? { runs: 1, passed: 0, failure: checkLine(sessionSummary, summary, name).failure }
    : checkLine(totalSchema, summary, name);
  const passed = isSingle && total.failure === null ? 1 : Math.min(total.runs, total.passed);
  const counted = lines.filter(({ value }) => value.type === 'run' && value.warmup === false);
  const sessions = (isSingle ? [summary] : counted).map((line) => checkLine(sessionSummary, line, name));
  const late = timesOf(sessions.flatMap(({ sendLatenessMs }) => sendLatenessMs?.p95 ?? []));
  const lateMs = late.nth(rankOf(50, late.count));
  const kinds = [total, ...sessions].flatMap(({ failure }) => failure?.kind ?? []);
  const own = kinds.find(isOwnFailure);
  return {
    kind: 'stream',
    name,
    subject: baseUrl,
    plan: [
      ['file', source.split(/[\\/]/).at(-1) ?? source],
      ...(durationMs === undefined ? [] : ([['length of the file in ms', durationMs]] as const)),
      ['pace', pace],
    ],
    runs: [
      {
        at: null,
        invalid: [
          ...(own === undefined ? [] : [`a session failed on this machine: ${own}`]),
          ...(lateMs > maxLateMs
            ? [`frames were sent ${lateMs.toFixed(1)} ms late (p95; at most ${maxLateMs} ms)`]
            : []),
        ],
        figures: [...sessionTimes(sessions), ...failedShare(total.runs - passed, total.runs)],
        items: [],
      },
    ],
  };
}

function sessionTimes(sessions: readonly SessionFigures[]): Figure[] {
  return Object.entries(sessionMetrics).flatMap(([metric, read]) => {
    const values = sessions.flatMap((session) => read(session));
    const times = timesOf(values.filter((value) => value !== null));
    return timeFigures(metric, times, {
      resolutionMs: sessionResolutionMs,
      resolutionShare: 0,
      count: times.count,
      at: (percent) => ({ ms: times.nth(rankOf(percent, times.count)), isLowerBound: false }),
    });
  });
}

function timesOf(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  return { count: sorted.length, nth: (rank: number) => sorted[rank - 1] ?? 0 };
}

function checkLine<Schema extends z.ZodType>(
  schema: Schema,
  { line, value }: ResultLine,
  name: string,
): z.output<Schema> {
  return checkShape(schema, value, (why) => refuseRun(`${name}: line ${line}`, why));
}

export function refuseRun(name: string, why: string): VoicectlError {
  return new VoicectlError('bad-input', `${name}: ${escapeText(why)}`, {
    hint: 'compare takes results of load --out and of stream, check and drill with --json, baselines, and dialects.',
  });
}
