import { describe, expect, test } from 'vitest';
import { judgeDialogue } from '../../src/audio/dialogue/judge-dialogue.ts';
import type { SideLevels } from '../../src/audio/dialogue/step-levels.ts';
import { type ErrorCode, VoicectlError } from '../../src/kernel/errors.ts';
import { describeFailure } from '../../src/kernel/failure-kind.ts';
import { bytesForMs } from '../../src/protocol/audio-format.ts';
import { type RepeatEvent, type RunResult, runRepeatedly, spreadOf } from '../../src/runs/repeat.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import type { SessionSummary } from '../../src/session/summary.ts';
import { createCountedClock } from '../helpers/counted-clock.ts';
import { measureSteps } from '../helpers/pcm.ts';
import { makeSummary } from '../helpers/summaries.ts';

/** How a session ends: well, with the error of this code, or with an expectation that failed. */
type Outcome = 'ok' | ErrorCode | 'late';

function errorOf(outcome: Outcome): VoicectlError | undefined {
  if (outcome === 'ok') return undefined;
  if (outcome === 'late') {
    return new VoicectlError('expectation-failed', 'Not as expected: late', {
      details: { kind: 'late-audio' },
    });
  }
  return new VoicectlError(outcome, `It failed: ${outcome}`);
}

/** A track with a sound in each span of milliseconds. */
function track(lengthMs: number, ...spans: (readonly [from: number, to: number])[]): SideLevels {
  const pcm = Buffer.alloc(bytesForMs(lengthMs));
  for (const [from, to] of spans)
    for (let at = from * 16; at < to * 16; at += 1) pcm.writeInt16LE(at % 2 === 0 ? 3_000 : -3_000, at * 2);
  return measureSteps(pcm);
}

/** Holds sessions with these outcomes, each of a second. */
async function hold(
  outcomes: readonly Outcome[],
  {
    warmup = 0,
    facts = (_run: number): Partial<SessionSummary> => ({}),
    signal = new AbortController().signal,
  } = {},
) {
  const clock = createCountedClock();
  const events: RepeatEvent[] = [];
  const runs: RunResult[] = [];
  let started = 0;
  const startRun = async function* (): AsyncGenerator<SessionEvent> {
    const outcome = outcomes[started] ?? 'ok';
    started += 1;
    const error = errorOf(outcome);
    const failure = error === undefined ? null : describeFailure(error);
    yield { t: 0, type: 'state', state: 'token' };
    await clock.run(1_000);
    const verdict = { name: 'max-first-audio', expected: 'at most 500 ms', measured: '600 ms' };
    const verdicts = [
      outcome === 'late' ? { ...verdict, ok: false, kind: 'late-audio' as const } : { ...verdict, ok: true },
    ];
    yield {
      t: 1_000,
      type: 'summary',
      ...makeSummary({ verdicts, failure, ok: failure === null, ...facts(started) }),
    };
    if (error !== undefined) throw error;
  };
  const repeat = outcomes.length - warmup;
  let thrown: unknown;
  try {
    const options = { clock, device: 'd1', repeat, warmup, onRun: (run: RunResult) => void runs.push(run) };
    for await (const event of runRepeatedly(startRun, options, signal)) events.push(event);
  } catch (error) {
    thrown = error;
  }
  return { events, runs, started, thrown, last: events.at(-1) };
}

describe('a single run', () => {
  test('has the events of its session unchanged', async () => {
    const { events, runs, thrown } = await hold(['ok']);
    expect(events).toEqual([
      { t: 0, type: 'state', state: 'token' },
      expect.objectContaining({ t: 1_000, type: 'summary', ok: true, elapsedMs: 4_000 }),
    ]);
    expect(thrown).toBeUndefined();
    expect(runs).toEqual([expect.objectContaining({ run: 1, elapsedMs: 1_000, failure: null })]);
  });

  test('throws what the session threw', async () => {
    const { thrown, events, runs } = await hold(['unexpected' as ErrorCode].map(() => 'stream-broken'));
    expect(thrown).toMatchObject({ code: 'stream-broken', message: 'It failed: stream-broken' });
    expect(events).toHaveLength(2);
    expect(runs[0]?.failure).toMatchObject({ kind: 'stream-broken', exitCode: 6 });
  });
});

describe('several runs', () => {
  test('name the run of each event, and end with each run’s summary and a total', async () => {
    const { events, thrown } = await hold(['ok', 'ok']);
    expect(events.map((event) => [event.type, 'run' in event ? event.run : undefined])).toEqual([
      ['state', 1],
      ['run', 1],
      ['state', 2],
      ['run', 2],
      ['summary', undefined],
    ]);
    expect(events.at(-1)).toMatchObject({
      t: 2_000,
      ok: true,
      device: 'd1',
      runs: 2,
      passed: 2,
      passRate: 1,
      failures: {},
      failure: null,
      elapsedMs: 2_000,
      in: { frames: 100, bytes: 64_000, audioMs: 2_000 },
      events: { service_voice_connected: 2 },
    });
    expect(thrown).toBeUndefined();
  });

  test('spread each metric over the runs that measured it', async () => {
    const facts = (run: number) => ({ firstAudioMs: run === 5 ? null : run * 100 });
    const { last } = await hold(['ok', 'ok', 'ok', 'ok', 'ok'], { facts });
    expect(last).toMatchObject({
      spread: {
        firstAudioMs: { count: 4, min: 100, median: 200, p95: 400, max: 400 },
        sendLatenessP95Ms: null,
        jitterP95Ms: { count: 5, min: 2.5, max: 2.5 },
      },
    });
  });

  test('spread turn-taking over all turns, and count what went wrong if it could be detected', async () => {
    const call = (ends: number[], coughs: number[] = []) =>
      judgeDialogue({
        user: track(
          20_000,
          ...ends.map((end) => [end - 1_000, end] as const),
          ...coughs.map((at) => [at, at + 300] as const),
        ),
        ai: track(20_000, ...ends.map((end) => [end + 600, end + 3_000] as const)),
        clips: [
          ...ends.map((end, index) => ({
            turn: index + 1,
            isTurn: true,
            startMs: end - 1_050,
            endMs: end + 50,
          })),
          ...coughs.map((at) => ({ turn: 9, isTurn: false, startMs: at - 50, endMs: at + 350 })),
        ],
        ...{ stops: [], waitMs: 5_000 },
      });
    const dialogues = [call([2_000, 8_000]), call([3_000], [4_000]), undefined];
    const facts = (run: number) => ({ dialogue: dialogues[run - 1] }) as Partial<SessionSummary>;
    const { last } = await hold(['ok', 'ok', 'ok'], { facts });
    expect(last).toMatchObject({
      spread: {
        responseMs: { count: 3, min: 600, median: 600, max: 600 },
        yieldMs: null,
        overlapMs: { count: 2, min: 0, max: 300 },
        talkOverMs: { count: 3, max: 0 },
      },
      turnTaking: { earlyReplies: 0, unanswered: 0, falseInterruptions: 0, answersNoise: 0, repliesLost: 0 },
    });
    const { last: unscripted } = await hold(['ok', 'ok'], { facts: () => ({ dialogue: call([2_000]) }) });
    expect(unscripted).toMatchObject({
      turnTaking: { earlyReplies: 0, falseInterruptions: null, answersNoise: null, repliesLost: null },
    });
  });

  test('continue after a failed one, and fail together, with the rate and the kinds', async () => {
    const { started, last, thrown } = await hold(['ok', 'late', 'ok', 'late']);
    expect(started).toBe(4);
    expect(last).toMatchObject({
      ok: false,
      passed: 2,
      passRate: 0.5,
      failures: { 'late-audio': 2 },
      failure: { kind: 'late-audio', exitCode: 1 },
      verdicts: [
        { name: 'max-first-audio', ok: false, kind: 'late-audio', measured: '2 of 4 runs, otherwise 600 ms' },
      ],
    });
    expect(thrown).toMatchObject({ code: 'expectation-failed', exitCode: 1 });
    expect((thrown as VoicectlError).message).toBe(
      '2 of 4 runs failed (late-audio × 2); the first: Not as expected: late',
    );
  });

  test.each<[Outcome[], number, string]>([
    [['ok', 'connect-failed', 'ok'], 4, 'unreachable'],
    [['timed-out', 'connect-failed', 'ok'], 7, 'timeout'],
    [['connect-failed', 'late', 'timed-out'], 1, 'late-audio'],
    [['rate-limited', 'rate-limited', 'rate-limited'], 5, 'rate-limited'],
  ])('that end as %j exit with %i', async (outcomes, exitCode, kind) => {
    const { thrown, last, started } = await hold(outcomes);
    expect(started).toBe(3);
    expect(thrown).toMatchObject({ exitCode });
    expect(last).toMatchObject({ type: 'summary', failure: { kind, exitCode } });
  });

  test.each<[ErrorCode, number]>([
    ['bad-input', 2],
    ['input-output', 8],
    ['interrupted', 130],
    ['internal', 70],
  ])('stop at once at %s, and still have a summary', async (code, exitCode) => {
    const { started, thrown, last } = await hold(['ok', code, 'ok']);
    expect(started).toBe(2);
    expect(thrown).toMatchObject({ code, exitCode });
    expect(last).toMatchObject({ type: 'summary', runs: 2, passed: 1, passRate: 0.5, ok: false });
  });

  test('skip an expectation that no run could judge, and count others over the runs that could', async () => {
    const skipped = {
      ...{ name: 'clean', expected: 'clean audio', ok: true, measured: 'not judged: too short' },
      skipped: true as const,
    };
    const seen = { name: 'clean', expected: 'clean audio', ok: true, measured: 'clean' };
    const never = await hold(['ok', 'ok'], { facts: () => ({ verdicts: [skipped] }) });
    expect(never.last).toMatchObject({ type: 'summary', verdicts: [skipped] });
    const once = await hold(['ok', 'ok', 'late'], {
      facts: (run) => ({
        verdicts: [
          run === 1
            ? skipped
            : run === 2
              ? seen
              : { ...seen, ok: false, measured: 'clicks × 2', kind: 'unclean-audio' },
        ],
      }),
    });
    expect((once.last as { verdicts?: unknown } | undefined)?.verdicts).toEqual([
      {
        ...{ name: 'clean', expected: 'clean audio', ok: false, kind: 'unclean-audio' },
        measured: '1 of 2 runs, otherwise clicks × 2, 1 skipped (not judged: too short)',
      },
    ]);
  });

  test('count each expectation over the runs that have it, in the order of the run that got furthest', async () => {
    const met = (name: string, expected = 'yes') => ({ name, expected, ok: true, measured: 'yes' });
    const failed = (name: string, kind: 'turn-skipped' | 'missing-event') => {
      return { ...met(name), ok: false, measured: 'no', kind };
    };
    // In the first run the second turn is not spoken.
    const of = [
      [met('turn 1: said'), failed('turn 2: said', 'turn-skipped'), met('forbid-event', 'no a')],
      [
        ...[met('turn 1: said'), met('turn 2: said')],
        ...[failed('turn 2: expect event', 'missing-event'), met('turn 2: expect event')],
        met('forbid-event', 'no a'),
      ],
      [],
    ];
    const { last } = await hold(['late', 'late', 'connect-failed'], {
      facts: (run) => ({ verdicts: of[run - 1] ?? [] }),
    });
    expect((last as { verdicts?: unknown } | undefined)?.verdicts).toEqual([
      { ...met('turn 1: said'), measured: '2 of 2 runs' },
      { ...failed('turn 2: said', 'turn-skipped'), measured: '1 of 2 runs, otherwise no' },
      { ...failed('turn 2: expect event', 'missing-event'), measured: '0 of 1 runs, otherwise no' },
      { ...met('turn 2: expect event'), measured: '1 of 1 runs' },
      { ...met('forbid-event', 'no a'), measured: '2 of 2 runs' },
    ]);
  });

  test('stop when the command is to end', async () => {
    const ending = new AbortController();
    ending.abort();
    const { started, thrown } = await hold(['timed-out', 'ok'], { signal: ending.signal });
    expect([started, (thrown as VoicectlError).exitCode]).toEqual([1, 7]);
  });

  test('for warm-up come first, and do not count', async () => {
    const { events, runs, last, thrown } = await hold(['late', 'late', 'ok', 'ok'], { warmup: 2 });
    expect(thrown).toBeUndefined();
    expect(runs.map(({ run }) => run)).toEqual([1, 2]);
    expect(last).toMatchObject({ runs: 2, passed: 2, warmup: 2, ok: true });
    expect(events.filter(({ type }) => type === 'run')).toMatchObject([
      { run: 1, warmup: true },
      { run: 2, warmup: true },
      { run: 1, warmup: false },
      { run: 2, warmup: false },
    ]);
  });
});

describe('the spread', () => {
  test.each([
    [[], null],
    [[7], { count: 1, min: 7, median: 7, p95: 7, max: 7 }],
    [[3, 1, 2], { count: 3, min: 1, median: 2, p95: 3, max: 3 }],
    [[4, 1, 3, 2], { count: 4, min: 1, median: 2, p95: 4, max: 4 }],
    [Array.from({ length: 100 }, (_, i) => 100 - i), { count: 100, min: 1, median: 50, p95: 95, max: 100 }],
  ])('of %j', (values, spread) => {
    expect(spreadOf(values)).toEqual(spread);
  });
});
