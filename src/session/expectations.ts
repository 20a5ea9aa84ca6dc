import type { VoiceJudgement } from '../audio/verdict/found-sounds.ts';
import type { VoiceSummary } from '../audio/verdict/service-voice.ts';
import {
  type AudioLimits,
  audioLimitNames,
  audioLimits,
  judgeLimit,
  type MeasuredAudio,
  type MeasuredTurns,
} from '../kernel/audio-limits.ts';
import type { FailureKind } from '../kernel/failure-kind.ts';
import { timesText } from '../protocol/count-text.ts';
import { ownValue } from '../protocol/parse-json.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { MetricsSnapshot } from './metrics.ts';

/** What a run must do to pass. */
export interface Expectations extends AudioLimits {
  /** Kinds of service messages that must arrive. */
  events?: readonly string[] | undefined;
  /** Kinds of service messages that must not arrive. */
  forbiddenEvents?: readonly string[] | undefined;
  closeCode?: number | undefined;
  /** Whether findings in the AI's audio fail the run, or remarks too. */
  clean?: Cleanness | undefined;
}

/** What makes a run fail: `findings`, which are certain; `strict`: remarks too. */
export type Cleanness = 'findings' | 'strict';

/** The result of one expectation. */
export interface ExpectationVerdict {
  name: string;
  ok: boolean;
  expected: string;
  measured: string;
  /** Set if it failed. */
  kind?: FailureKind;
  /** Set if it could not be judged; `measured` says why. */
  skipped?: true;
}

export interface Observed
  extends Pick<MetricsSnapshot, 'in' | 'audibleMs' | 'firstAudioMs' | 'longestGapMs' | 'jitterMs'> {
  /** Service messages of the kinds that are expected or forbidden. */
  events: Record<string, number>;
  isConfirmed: boolean;
  closeCode: number | null;
  /** What was found in the AI's audio. */
  voice: CleanFacts;
  dialogue?: MeasuredTurns;
  pausedMs?: NonNullable<MeasuredAudio['pausedMs']>;
}

/** The facts for an expectation of clean audio. */
export type CleanFacts = Pick<VoiceSummary, 'judgements' | 'unjudged'>;

/** Judges the observations by the expectations, in the order of the flags. */
export function judge(expectations: Expectations, observed: Observed): ExpectationVerdict[] {
  const { closeCode, events = [], forbiddenEvents = [] } = expectations;
  const counted = (kind: string) => ownValue(observed.events, kind) ?? 0;
  return [
    ...judgeExpectedAudio(expectations, observed),
    ...judgeClean(expectations.clean, observed.voice),
    ...events.map((kind) =>
      verdict('expect-event', 'missing-event', {
        ok: counted(kind) > 0,
        expected: kind,
        measured: timesText(counted(kind)),
      }),
    ),
    ...forbiddenEvents.map((kind) => judgeForbidden(kind, counted(kind), observed.isConfirmed)),
    ...judgeGiven(closeCode, (code) =>
      verdict('expect-close', 'wrong-close', {
        ok: observed.closeCode === code,
        expected: String(code),
        measured: String(observed.closeCode ?? 'not connected'),
      }),
    ),
  ];
}

function judgeForbidden(kind: string, count: number, isConfirmed: boolean): ExpectationVerdict {
  const expected = `no ${kind}`;
  if (count === 0 && !isConfirmed)
    return {
      name: 'forbid-event',
      ok: true,
      expected,
      measured: 'none, but the stream was never confirmed',
      skipped: true,
    };
  return verdict('forbid-event', 'forbidden-event', {
    ok: count === 0,
    expected,
    measured: timesText(count),
  });
}

/** Judges AI audio: a verdict for each limit that is set. */
export function judgeExpectedAudio(limits: AudioLimits, measured: MeasuredAudio): ExpectationVerdict[] {
  return audioLimitNames.flatMap((name) => {
    const { kind } = audioLimits[name];
    return judgeGiven(limits[name], (ms): ExpectationVerdict => {
      const { kind: other, skipped, ...judged } = judgeLimit(name, ms, measured);
      return { ...verdict(name, other ?? kind, judged), ...(skipped === undefined ? {} : { skipped }) };
    });
  });
}

/** Whether the AI's audio is clean. Skipped, with the reason, if it cannot be judged. */
export function judgeClean(
  clean: Cleanness | undefined,
  { judgements, unjudged }: CleanFacts,
): ExpectationVerdict[] {
  return judgeGiven(clean, (how) => {
    const found = judgements.filter(({ is }) => is === 'finding' || how === 'strict');
    const expected = how === 'strict' ? 'AI audio without a remark' : 'clean AI audio';
    const isSkipped = found.length === 0 && unjudged !== null;
    if (isSkipped)
      return { name: 'expect-clean', ok: true, expected, measured: `not judged: ${unjudged}`, skipped: true };
    return verdict('expect-clean', 'unclean-audio', {
      ok: found.length === 0,
      expected,
      measured: found.length === 0 ? 'nothing found' : found.map(foundText).join(', '),
    });
  });
}

/** `click at 1.02 s (3 times)` */
function foundText({ kind, atMs, times }: VoiceJudgement): string {
  const place = atMs === null ? '' : ` at ${secondsText(atMs)}`;
  return `${kind}${place}${times > 1 ? ` (${timesText(times)})` : ''}`;
}

function judgeGiven<T>(
  expected: T | undefined,
  judgeIt: (expected: T) => ExpectationVerdict,
): ExpectationVerdict[] {
  return expected === undefined ? [] : [judgeIt(expected)];
}

/** A verdict; `kind` is the kind of failure if it failed. */
export function verdict(
  name: string,
  kind: FailureKind,
  { ok, expected, measured }: Pick<ExpectationVerdict, 'ok' | 'expected' | 'measured'>,
): ExpectationVerdict {
  return { name, ok, expected, measured, ...(ok ? {} : { kind }) };
}
