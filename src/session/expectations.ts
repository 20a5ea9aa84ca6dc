import type { MetricsSnapshot } from './metrics.ts';

/** What a run must show to pass. */
export interface Expectations {
  /** At least this much AI audio, in milliseconds. */
  audioMs?: number | undefined;
  maxFirstAudioMs?: number | undefined;
  /** Kinds of service messages that must come. */
  events?: readonly string[] | undefined;
  /** Kinds of service messages that must not come. */
  forbiddenEvents?: readonly string[] | undefined;
  maxGapMs?: number | undefined;
  closeCode?: number | undefined;
}

/** What became of one expectation. */
export interface Verdict {
  name: string;
  ok: boolean;
  expected: string;
  measured: string;
}

export interface Observed extends Pick<MetricsSnapshot, 'in' | 'firstAudioMs' | 'longestGapMs'> {
  /** Service messages by kind. */
  events: Record<string, number>;
  closeCode: number | null;
}

/** Holds what was observed against what was expected, in the order of the flags. */
export function judge(expectations: Expectations, observed: Observed): Verdict[] {
  const { audioMs, maxFirstAudioMs, maxGapMs, closeCode, events = [], forbiddenEvents = [] } = expectations;
  const counted = (kind: string) => observed.events[kind] ?? 0;
  const verdicts: (Verdict | undefined)[] = [
    audioMs === undefined
      ? undefined
      : verdict('expect-audio', {
          ok: observed.in.bytes > 0 && observed.in.audioMs >= audioMs,
          expected: audioMs === 0 ? 'any AI audio' : `at least ${audioMs} ms`,
          measured: `${observed.in.audioMs} ms`,
        }),
    atMost('max-first-audio', maxFirstAudioMs, observed.firstAudioMs),
    ...events.map((kind) =>
      verdict('expect-event', { ok: counted(kind) > 0, expected: kind, measured: `${counted(kind)} times` }),
    ),
    ...forbiddenEvents.map((kind) =>
      verdict('forbid-event', {
        ok: counted(kind) === 0,
        expected: `no ${kind}`,
        measured: `${counted(kind)} times`,
      }),
    ),
    atMost('max-gap', maxGapMs, observed.longestGapMs),
    closeCode === undefined
      ? undefined
      : verdict('expect-close', {
          ok: observed.closeCode === closeCode,
          expected: String(closeCode),
          measured: String(observed.closeCode ?? 'not connected'),
        }),
  ];
  return verdicts.filter((one) => one !== undefined);
}

function verdict(name: string, rest: Omit<Verdict, 'name'>): Verdict {
  return { name, ...rest };
}

/** A limit on something that was measured; what was never measured, because no audio came, has not kept it. */
function atMost(name: string, limitMs: number | undefined, measuredMs: number | null): Verdict | undefined {
  if (limitMs === undefined) return undefined;
  return verdict(name, {
    ok: measuredMs !== null && measuredMs <= limitMs,
    expected: `at most ${limitMs} ms`,
    measured: measuredMs === null ? 'nothing to measure' : `${measuredMs} ms`,
  });
}
