import type { FailureKind } from '../kernel/failure-kind.ts';
import type { MetricsSnapshot } from './metrics.ts';

/** What AI audio must be like: of a whole session, or of the reply to one turn. */
export interface AudioExpectations {
  /** At least this much AI audio, in milliseconds; 0: any. */
  audioMs?: number | undefined;
  /** At least this much AI audio that can be heard; 0: any. */
  audibleMs?: number | undefined;
  maxAudioMs?: number | undefined;
  maxFirstAudioMs?: number | undefined;
  maxGapMs?: number | undefined;
  /** Limit for the 95th percentile. */
  maxJitterMs?: number | undefined;
}

/** What a run must show to pass. */
export interface Expectations extends AudioExpectations {
  /** Kinds of service messages that must come. */
  events?: readonly string[] | undefined;
  /** Kinds of service messages that must not come. */
  forbiddenEvents?: readonly string[] | undefined;
  closeCode?: number | undefined;
}

/** What became of one expectation. */
export interface Verdict {
  name: string;
  ok: boolean;
  expected: string;
  measured: string;
  /** Set where it failed. */
  kind?: FailureKind;
}

type ObservedAudio = Pick<MetricsSnapshot, 'in' | 'audibleMs' | 'firstAudioMs' | 'longestGapMs' | 'jitterMs'>;

export interface Observed extends ObservedAudio {
  /** Service messages by kind. */
  events: Record<string, number>;
  closeCode: number | null;
}

/** Holds what was observed against what was expected, in the order of the flags. */
export function judge(expectations: Expectations, observed: Observed): Verdict[] {
  const { closeCode, events = [], forbiddenEvents = [] } = expectations;
  const counted = (kind: string) => observed.events[kind] ?? 0;
  return [
    ...judgeAudio(expectations, observed),
    ...events.map((kind) =>
      verdict('expect-event', 'missing-event', {
        ok: counted(kind) > 0,
        expected: kind,
        measured: `${counted(kind)} times`,
      }),
    ),
    ...forbiddenEvents.map((kind) =>
      verdict('forbid-event', 'forbidden-event', {
        ok: counted(kind) === 0,
        expected: `no ${kind}`,
        measured: `${counted(kind)} times`,
      }),
    ),
    ...given(closeCode, (code) =>
      verdict('expect-close', 'wrong-close', {
        ok: observed.closeCode === code,
        expected: String(code),
        measured: String(observed.closeCode ?? 'not connected'),
      }),
    ),
  ];
}

/** The part of it that is about the AI audio. */
export function judgeAudio(expectations: AudioExpectations, observed: ObservedAudio): Verdict[] {
  const { audioMs, audibleMs, maxAudioMs, maxFirstAudioMs, maxGapMs, maxJitterMs } = expectations;
  const isSingle = observed.in.bytes > 0 && observed.longestGapMs === null;
  return [
    ...given(audioMs, (ms) => atLeast('expect-audio', ms, observed.in.audioMs, 'AI audio')),
    ...given(audibleMs, (ms) =>
      atLeast('expect-audible', ms, observed.audibleMs, 'AI audio that can be heard'),
    ),
    ...given(maxAudioMs, (ms) => atMost('max-audio', 'too-much-audio', ms, observed.in.audioMs)),
    ...given(maxFirstAudioMs, (ms) => atMost('max-first-audio', 'late-audio', ms, observed.firstAudioMs)),
    // A reply of one message has nothing between its messages.
    ...given(maxGapMs, (ms) => atMost('max-gap', 'long-gap', ms, isSingle ? 0 : observed.longestGapMs)),
    ...given(maxJitterMs, (ms) =>
      atMost('max-jitter', 'high-jitter', ms, isSingle ? 0 : (observed.jitterMs?.p95 ?? null)),
    ),
  ];
}

function given<T>(expected: T | undefined, judgeIt: (expected: T) => Verdict): Verdict[] {
  return expected === undefined ? [] : [judgeIt(expected)];
}

/** A verdict; `kind` is what its failure counts as. */
export function verdict(
  name: string,
  kind: FailureKind,
  { ok, expected, measured }: Pick<Verdict, 'ok' | 'expected' | 'measured'>,
): Verdict {
  return { name, ok, expected, measured, ...(ok ? {} : { kind }) };
}

function atLeast(name: string, leastMs: number, measuredMs: number, what: string): Verdict {
  return verdict(name, 'too-little-audio', {
    ok: measuredMs > 0 && measuredMs >= leastMs,
    expected: leastMs === 0 ? `any ${what}` : `at least ${leastMs} ms`,
    measured: `${measuredMs} ms`,
  });
}

/** A limit on something that was measured; what was never measured, because no audio came, has not kept it. */
function atMost(name: string, kind: FailureKind, limitMs: number, measuredMs: number | null): Verdict {
  return verdict(name, kind, {
    ok: measuredMs !== null && measuredMs <= limitMs,
    expected: `at most ${limitMs} ms`,
    measured: measuredMs === null ? 'nothing to measure' : `${measuredMs} ms`,
  });
}
