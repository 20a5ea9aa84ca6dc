import { VoicectlError } from '../../src/kernel/errors.ts';
import { describeFailure } from '../../src/kernel/failure-kind.ts';
import { spreadNames } from '../../src/report/summary-lines.ts';
import type { RepeatSummary, RunResult } from '../../src/runs/repeat.ts';
import type { SessionSummary } from '../../src/session/summary.ts';

/** The summary of a session that went well, but for what a test says of it. */
export function makeSummary(facts: Partial<SessionSummary> = {}): SessionSummary {
  return {
    device: 'device-1',
    ok: true,
    elapsedMs: 4_000,
    tokenMs: 10,
    connectMs: 3,
    authoriseMs: 2,
    out: { frames: 100, bytes: 64_000, audioMs: 2_000 },
    in: { frames: 50, bytes: 32_000, audioMs: 1_000 },
    audibleMs: 900,
    firstAudioMs: 690.4,
    jitterMs: { p50: 1, p95: 2.5, max: 9 },
    longestGapMs: 40,
    sendLatenessMs: null,
    underruns: null,
    events: { service_voice_connected: 1 },
    rateLimit: null,
    close: { code: 1000, reason: '', name: 'normal' },
    verdicts: [],
    failure: null,
    ...facts,
  };
}

/** What a run came to that went well, but for what a test says of it. */
export function makeRun(facts: Partial<RunResult> = {}): RunResult {
  return {
    run: 1,
    startedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    elapsedMs: 4_000,
    summary: makeSummary(),
    failure: null,
    ...facts,
  };
}

/** The summary of several runs, of which only what reports name their parts by is right. */
export function makeTotal(runs: readonly RunResult[]): RepeatSummary {
  const { device, elapsedMs, out, in: received, events } = makeSummary();
  const passed = runs.filter(({ failure }) => failure === null).length;
  return {
    ...{ device, elapsedMs, out, in: received, events, ok: passed === runs.length, failure: null },
    ...{ runs: runs.length, passed, passRate: passed / runs.length, warmup: 0, failures: {}, verdicts: [] },
    spread: Object.fromEntries(
      Object.keys(spreadNames).map((name) => [name, null]),
    ) as RepeatSummary['spread'],
    turnTaking: {} as RepeatSummary['turnTaking'],
  };
}

/** The failure of an expectation, as a run tells it. */
export function lateAudio() {
  const error = new VoicectlError('expectation-failed', 'Not as expected: late', {
    details: { kind: 'late-audio' },
  });
  return describeFailure(error);
}
