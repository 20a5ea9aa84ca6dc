import type { Dialogue, DialogueFigures, UserTurn } from '../audio/dialogue/dialogue.ts';
import type { Clock } from '../kernel/clock.ts';
import { type ErrorCode, toVoicectlError, VoicectlError } from '../kernel/errors.ts';
import {
  describeFailure,
  type Failure,
  type FailureKind,
  failureKind,
  isOwnFailure,
  kindCountsText,
} from '../kernel/failure-kind.ts';
import { nearestRank } from '../kernel/nearest-rank.ts';
import { roundMs } from '../protocol/time-text.ts';
import type { SessionEvent } from '../session/events.ts';
import type { ExpectationVerdict } from '../session/expectations.ts';
import type { AudioTotals } from '../session/metrics.ts';
import type { SessionSummary } from '../session/summary.ts';

/** One session of several. */
export interface RunResult {
  /** From 1; warm-up runs do not count. */
  run: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  elapsedMs: number;
  /** Undefined if the session could not start. */
  summary: SessionSummary | undefined;
  failure: Failure | null;
}

/** The spread of a metric over the runs that measured it. */
export interface MetricSpread {
  count: number;
  min: number;
  median: number;
  p95: number;
  max: number;
}

/** The measured values of a run: one number, or one per turn. */
const spreadMetrics = {
  elapsedMs: ({ elapsedMs }) => elapsedMs,
  tokenMs: ({ tokenMs }) => tokenMs,
  connectMs: ({ connectMs }) => connectMs,
  authoriseMs: ({ authoriseMs }) => authoriseMs,
  firstAudioMs: ({ firstAudioMs }) => firstAudioMs,
  responseMs: ofTurns(({ responseMs }) => responseMs),
  yieldMs: ofTurns(({ yieldMs }) => yieldMs),
  overlapMs: ({ dialogue }) => (isJudged(dialogue) ? dialogue.figures.overlapMs : null),
  talkOverMs: ofTurns(({ talkOverMs }) => talkOverMs),
  longestGapMs: ({ longestGapMs }) => longestGapMs,
  jitterP95Ms: ({ jitterMs }) => jitterMs?.p95 ?? null,
  audioMs: (summary) => summary.in.audioMs,
  sendLatenessP95Ms: ({ sendLatenessMs }) => sendLatenessMs?.p95 ?? null,
} as const satisfies Record<string, (summary: SessionSummary) => number | null | number[]>;

function isJudged(dialogue: Dialogue | undefined): dialogue is Dialogue {
  return dialogue !== undefined && dialogue.unjudged === null;
}

/** The figure of each turn that has one. */
function ofTurns(read: (turn: UserTurn) => number | null) {
  return ({ dialogue }: SessionSummary): number[] =>
    isJudged(dialogue) ? dialogue.turns.flatMap((turn) => read(turn) ?? []) : [];
}

/** How often turn-taking went wrong over all runs; null if no run could detect it. */
export type TurnTakingCounts = Record<(typeof countedFigures)[number], number | null>;

const countedFigures = [
  'earlyReplies',
  'neverYields',
  'endedByItself',
  'falseInterruptions',
  'answersNoise',
  'repliesLost',
  'unanswered',
] as const satisfies (keyof DialogueFigures)[];

function countTurnTaking(summaries: readonly SessionSummary[]): TurnTakingCounts {
  const judged = summaries.flatMap(({ dialogue }) => (isJudged(dialogue) ? [dialogue.figures] : []));
  const entries = countedFigures.map((name) => {
    const counts = judged.flatMap((figures) => figures[name] ?? []);
    return [name, counts.length === 0 ? null : counts.reduce((sum, one) => sum + one, 0)];
  });
  return Object.fromEntries(entries);
}

export type SpreadMetric = keyof typeof spreadMetrics;

/** The result of several runs, without warm-up runs. */
export interface RepeatSummary
  extends Pick<SessionSummary, 'device' | 'ok' | 'elapsedMs' | 'out' | 'in' | 'events' | 'failure'> {
  /** Runs that began. */
  runs: number;
  passed: number;
  /** From 0 to 1. */
  passRate: number;
  warmup: number;
  failures: Partial<Record<FailureKind, number>>;
  spread: Record<SpreadMetric, MetricSpread | null>;
  turnTaking: TurnTakingCounts;
  /** Each expectation, with the number of runs that met it. */
  verdicts: ExpectationVerdict[];
}

/**
 * The events of each run, its summary as `run`, and at the end one summary of all runs. A single run has its own events
 * unchanged.
 */
export type RepeatEvent =
  | SessionEvent
  | (SessionEvent & { run: number; warmup: boolean })
  | ({ t: number; type: 'run'; run: number; warmup: boolean } & SessionSummary)
  | ({ t: number; type: 'summary' } & RepeatSummary);

export interface RepeatOptions {
  clock: Clock;
  device: string;
  /** Number of runs that count. */
  repeat: number;
  /** Number of runs before them that do not count. */
  warmup: number;
  /** Called with each run that counts, after its end. */
  onRun?: (result: RunResult) => void;
}

/**
 * Runs sessions one after the other. A failed run does not stop the others, except for a failure of this machine or an
 * aborted signal. Throws what a single run threw; for several runs `expectation-failed` if an expectation failed in any, else
 * the error of the first that failed.
 */
export async function* runRepeatedly(
  startRun: () => AsyncIterable<SessionEvent>,
  { clock, device, repeat, warmup, onRun }: RepeatOptions,
  signal: AbortSignal,
): AsyncGenerator<RepeatEvent> {
  const isSingle = repeat === 1 && warmup === 0;
  const beganAt = clock.now();
  const results: RunResult[] = [];
  const errors: VoicectlError[] = [];
  for (let index = 0; index < warmup + repeat; index += 1) {
    const isWarmup = index < warmup;
    const run = isWarmup ? index + 1 : index - warmup + 1;
    const startedAt = clock.wall();
    const since = clock.now();
    let summary: SessionSummary | undefined;
    let error: VoicectlError | undefined;
    try {
      for await (const event of startRun()) {
        if (event.type === 'summary') summary = event;
        if (isSingle) yield event;
        else
          yield event.type === 'summary'
            ? { ...event, type: 'run', run, warmup: isWarmup }
            : { ...event, run, warmup: isWarmup };
      }
    } catch (thrown) {
      error = toVoicectlError(thrown);
    }
    const failure = error === undefined ? null : describeFailure(error);
    const result = {
      run,
      startedAt,
      elapsedMs: roundMs(clock.now() - since),
      summary,
      failure,
    };
    if (!isWarmup) {
      results.push(result);
      onRun?.(result);
      if (error !== undefined) errors.push(error);
    }
    if (error !== undefined && (isSingle || signal.aborted || isOwnFailure(failureKind(error)))) {
      if (!isWarmup && !isSingle) yield { t: roundMs(clock.now() - beganAt), type: 'summary', ...total() };
      throw error;
    }
  }
  if (isSingle) return;
  const summary = total();
  yield { t: roundMs(clock.now() - beganAt), type: 'summary', ...summary };
  const error = verdictOf(errors, results.length);
  if (error !== undefined) throw error;

  function total(): RepeatSummary {
    const elapsedMs = roundMs(clock.now() - beganAt);
    return { device, elapsedMs, warmup, ...summarise(results, verdictOf(errors, results.length)) };
  }
}

/** The error of several runs together. */
function verdictOf(errors: readonly VoicectlError[], runs: number): VoicectlError | undefined {
  const isExpectation = ({ code }: VoicectlError) => code === ('expectation-failed' satisfies ErrorCode);
  const first = errors.find(isExpectation) ?? errors[0];
  if (first === undefined) return undefined;
  const text = `${errors.length} of ${runs} runs failed (${kindCountsText(countKinds(errors.map(failureKind)))})`;
  return new VoicectlError(first.code, `${text}; the first: ${first.message}`, {
    hint: first.hint,
    cause: first,
    details: first.details,
  });
}

function summarise(
  results: readonly RunResult[],
  error: VoicectlError | undefined,
): Omit<RepeatSummary, 'device' | 'elapsedMs' | 'warmup'> {
  const summaries = results.flatMap(({ summary }) => (summary === undefined ? [] : [summary]));
  const passed = results.filter(({ failure }) => failure === null).length;
  const spread = Object.entries(spreadMetrics).map(([name, read]) => [
    name,
    spreadOf(summaries.flatMap((summary) => read(summary) ?? [])),
  ]);
  return {
    ok: error === undefined,
    runs: results.length,
    passed,
    passRate: passed / Math.max(1, results.length),
    failures: countKinds(results.flatMap(({ failure }) => (failure === null ? [] : [failure.kind]))),
    out: sum(summaries.map((summary) => summary.out)),
    in: sum(summaries.map((summary) => summary.in)),
    events: sumCounts(summaries.map(({ events }) => events)),
    spread: Object.fromEntries(spread),
    turnTaking: countTurnTaking(summaries),
    verdicts: joinVerdicts(summaries.map(({ verdicts }) => verdicts)),
    failure: error === undefined ? null : describeFailure(error),
  };
}

/** Null if there are no values. Each statistic is one of the measured values. */
export function spreadOf(values: readonly number[]): MetricSpread | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (percent: number) => nearestRank(sorted, percent) ?? 0;
  return { count: sorted.length, min: at(0), median: at(50), p95: at(95), max: at(100) };
}

function countKinds(kinds: readonly FailureKind[]): RepeatSummary['failures'] {
  const counts: RepeatSummary['failures'] = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function sum(totals: readonly AudioTotals[]): AudioTotals {
  return totals.reduce(
    (all, { frames, bytes, audioMs }) => ({
      frames: all.frames + frames,
      bytes: all.bytes + bytes,
      audioMs: all.audioMs + audioMs,
    }),
    { frames: 0, bytes: 0, audioMs: 0 },
  );
}

function sumCounts(all: readonly Record<string, number>[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const one of all)
    for (const [kind, count] of Object.entries(one)) counts.set(kind, (counts.get(kind) ?? 0) + count);
  return Object.fromEntries(counts);
}

/**
 * Each expectation, over the runs that have it: a turn that was not spoken has fewer verdicts. It is skipped if no run could
 * judge it.
 */
function joinVerdicts(runs: readonly (readonly ExpectationVerdict[])[]): ExpectationVerdict[] {
  const named = runs.map(nameVerdicts);
  // The order of the run that got furthest.
  const names = new Set(
    named.toSorted((one, other) => other.size - one.size).flatMap((run) => [...run.keys()]),
  );
  return [...names].flatMap((name) => {
    const all = named.flatMap((run) => run.get(name) ?? []);
    const seen = all.filter(({ skipped }) => !skipped);
    const [first] = seen;
    if (first === undefined) return all.slice(0, 1);
    const failures = seen.filter(({ ok }) => !ok);
    const [failed] = failures;
    const unseen = all.find(({ skipped }) => skipped);
    const parts = [
      `${seen.length - failures.length} of ${seen.length} runs`,
      ...(failed === undefined ? [] : [`otherwise ${failed.measured}`]),
      ...(unseen === undefined ? [] : [`${all.length - seen.length} skipped (${unseen.measured})`]),
    ];
    return {
      ...{ name: first.name, expected: first.expected, ok: failed === undefined, measured: parts.join(', ') },
      ...(failed?.kind === undefined ? {} : { kind: failed.kind }),
    };
  });
}

/** The verdicts of a run, each with what tells its expectation from the others: several may expect the same. */
function nameVerdicts(verdicts: readonly ExpectationVerdict[]): Map<string, ExpectationVerdict> {
  const times = new Map<string, number>();
  return new Map(
    verdicts.map((verdict) => {
      const text = JSON.stringify([verdict.name, verdict.expected]);
      const time = (times.get(text) ?? 0) + 1;
      times.set(text, time);
      return [`${text} ${time}`, verdict];
    }),
  );
}
