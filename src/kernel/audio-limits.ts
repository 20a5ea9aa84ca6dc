import { pausedText } from './lateness.ts';
import { neverYieldsMs } from './never-yields.ts';

/**
 * Every limit on AI audio: of a whole session, or of the reply to one turn. A row is a flag (`--NAME`), a key of a
 * conversation file, a verdict, and a kind of failure; all of them are made from it. It is here because the
 * closed list of failure kinds is, and because the command line and a session both need it and do not import
 * each other. Times are milliseconds.
 */
export const audioLimits = {
  'expect-audio': {
    help: 'fail if no AI audio arrives, or less than DURATION',
    says: 'At least this much AI audio; 0 for any',
    mayBeAny: true,
    kind: 'too-little-audio',
    meaning: 'less AI audio arrived than expected',
    judge: (ms, heard) => atLeast(ms, heard.in.audioMs, 'AI audio'),
  },
  'expect-audible': {
    help: 'fail if no audible AI audio (above −60 dBFS) arrives, or less than DURATION',
    says: 'At least this much audible AI audio; 0 for any',
    mayBeAny: true,
    kind: 'too-little-audio',
    meaning: 'less AI audio arrived than expected',
    judge: (ms, heard) => atLeast(ms, heard.audibleMs, 'audible AI audio'),
  },
  'max-audio': {
    help: 'fail if more AI audio than this arrives',
    says: 'At most this much AI audio',
    kind: 'too-much-audio',
    meaning: 'more AI audio arrived than allowed',
    judge: (ms, heard) => atMost(ms, heard.in.audioMs),
  },
  'max-first-audio': {
    help: 'fail if the reply starts later than this after the end of speech',
    says: 'From the end of the speech to the first AI audio',
    kind: 'late-audio',
    meaning: 'the first AI audio arrived too late, or never',
    figure: 'firstAudioMs',
    judge: (ms, heard) => atMost(ms, heard.firstAudioMs),
  },
  'max-gap': {
    help: 'fail if a reply pauses for longer than this',
    says: 'Longest time between two AI messages of one reply',
    kind: 'long-gap',
    meaning: 'a reply paused for too long',
    figure: 'longestGapMs',
    judge: (ms, heard) => atMost(ms, isOneMessage(heard) ? 0 : heard.longestGapMs),
  },
  'max-jitter': {
    help: 'fail if the 95th percentile of the jitter is above this',
    says: '95th percentile of the jitter',
    kind: 'high-jitter',
    meaning: 'AI audio arrived too unevenly',
    figure: 'jitterMs',
    judge: (ms, heard) => atMost(ms, isOneMessage(heard) ? 0 : (heard.jitterMs?.p95 ?? null)),
  },
  'max-response': {
    help: 'fail if a reply is heard later than this after the end of the turn, or before that end',
    says: 'From the end of the turn to the first audible AI audio',
    kind: 'slow-response',
    meaning: 'a reply was heard too late',
    figure: 'responseMs',
    judge: (ms, { dialogue }) => judged(dialogue, ms, (found) => judgeResponse(ms, found)),
  },
  'max-yield': {
    help: 'fail if the AI takes longer than this to fall silent after an interruption begins',
    says: 'From the start of an interruption until the AI is silent; at most 2s: an AI that speaks for longer counts as never yielding',
    most: {
      ms: neverYieldsMs,
      why: 'an AI that keeps speaking for 2 s after an interruption counts as never yielding, which fails in any case',
    },
    kind: 'slow-yield',
    meaning: 'the AI spoke for too long after it was interrupted',
    figure: 'yieldMs',
    judge: (ms, { dialogue }) => judged(dialogue, ms, (found) => judgeYield(ms, found)),
  },
  'max-talk-over': {
    help: 'fail if the AI speaks for longer than this during the user’s turns',
    says: 'How long the AI may speak during the user’s turns',
    kind: 'talk-over',
    meaning: 'the AI talked over the user',
    figure: 'talkOverMs',
    judge: (ms, { dialogue }) => judged(dialogue, ms, (found) => atMost(ms, found.talkOverMs)),
  },
} as const satisfies Record<string, AudioLimit>;

/** Default of `--wait`: how long a reply may take to begin, in milliseconds. */
export const defaultWaitMs = 10_000;

/** Default of `--settle`: a pause this long ends a reply, in milliseconds. */
export const defaultSettleMs = 1_500;

/** Why this limit is refused; undefined if it is valid. */
export function refuseLimit(name: AudioLimitName, ms: number): string | undefined {
  const { most }: AudioLimit = audioLimits[name];
  return most === undefined || ms <= most.ms ? undefined : `expected at most ${most.ms} ms: ${most.why}`;
}

export type AudioLimitName = keyof typeof audioLimits;
export const audioLimitNames = Object.keys(audioLimits) as AudioLimitName[];

/** The limits that are set, in milliseconds. */
export type AudioLimits = { [Name in AudioLimitName]?: number | undefined };

/** The failure kind of an exceeded limit. */
export type AudioFailure = (typeof audioLimits)[AudioLimitName]['kind'];

/** The meaning of each kind, in the order of the limits. */
export const audioFailures = Object.fromEntries(
  Object.values(audioLimits).map(({ kind, meaning }) => [kind, meaning]),
) as Record<AudioFailure, string>;

/** The measurements of AI audio. Null: no audio to measure. */
export interface MeasuredAudio {
  in: { bytes: number; audioMs: number };
  audibleMs: number;
  /** From the end of the speech. */
  firstAudioMs: number | null;
  /** Between two messages; null also if there was only one. */
  longestGapMs: number | null;
  jitterMs: { p95: number } | null;
  /** Who spoke when; undefined if that was not measured. */
  dialogue?: MeasuredTurns | undefined;
  pausedMs?: Paused<'firstAudioMs' | 'longestGapMs' | 'jitterMs'>;
}

/** By how much pauses of this process may have lengthened each figure, in milliseconds. */
export type Paused<Figure extends string> = Readonly<Record<Figure, number>>;

/** What followed one turn, or the worst of what followed the turns of a session. */
export interface MeasuredTurns {
  /** Why it is not judged; null if it is. */
  unjudged: string | null;
  /** Null: no reply came after the end of a turn. */
  responseMs: number | null;
  /** How long a reply began before the end of its turn, if this process ran all the time. */
  earlyMs: number | null;
  /** The same for a reply after a pause of this process in its turn, and the length of that pause. */
  earlyAfterPause?: { ms: number; pausedMs: number } | undefined;
  /** A turn had no reply. */
  isUnanswered: boolean;
  /** Null: nobody was interrupted, or the AI ended by itself. */
  yieldMs: number | null;
  neverYields: boolean;
  talkOverMs: number;
  pausedMs?: Paused<'responseMs' | 'yieldMs' | 'talkOverMs'>;
}

interface Judgement {
  ok: boolean;
  /** It was not judged. */
  skipped?: true;
  /** The failure, if it differs from the failure of the limit. */
  kind?: 'early-reply' | 'no-reply';
  expected: string;
  measured: string;
}

interface AudioLimit {
  /** Help of the flag. */
  help: string;
  /** Description of the key in a conversation file. */
  says: string;
  /** Whether the flag may have no value, and 0 means any amount. */
  mayBeAny?: true;
  /** The longest time that can be measured, and why. */
  most?: { ms: number; why: string };
  /** The failure kind if the limit is exceeded, and its meaning. */
  kind: string;
  meaning: string;
  /** The figure that is judged, if a pause of this process may lengthen it. */
  figure?: keyof PausedFigures;
  judge(limitMs: number, heard: MeasuredAudio): Judgement;
}

/** Judges by a limit. What this process may have caused itself, because it did not run, is not judged. */
export function judgeLimit(name: AudioLimitName, limitMs: number, heard: MeasuredAudio): Judgement {
  const { judge, figure }: AudioLimit = audioLimits[name];
  const found = judge(limitMs, heard);
  const paused = { ...heard.pausedMs, ...heard.dialogue?.pausedMs };
  const pausedMs = figure === undefined ? 0 : (paused[figure] ?? 0);
  if (found.ok || pausedMs === 0 || !judge(limitMs, withoutPauses(heard, paused)).ok) return found;
  const { expected, measured } = found;
  return { ok: true, skipped: true, expected, measured: pausedText(measured, pausedMs) };
}

type PausedFigures = NonNullable<MeasuredAudio['pausedMs']> & NonNullable<MeasuredTurns['pausedMs']>;

/** What would have been measured at the least without the pauses. */
function withoutPauses(heard: MeasuredAudio, paused: Partial<PausedFigures>): MeasuredAudio {
  const less = (ms: number | null, by = 0) => (ms === null ? null : Math.max(0, ms - by));
  const { firstAudioMs, longestGapMs, jitterMs, dialogue } = heard;
  return {
    ...heard,
    firstAudioMs: less(firstAudioMs, paused.firstAudioMs),
    longestGapMs: less(longestGapMs, paused.longestGapMs),
    jitterMs: jitterMs && { p95: less(jitterMs.p95, paused.jitterMs) ?? 0 },
    dialogue: dialogue && {
      ...dialogue,
      responseMs: less(dialogue.responseMs, paused.responseMs),
      yieldMs: less(dialogue.yieldMs, paused.yieldMs),
      talkOverMs: less(dialogue.talkOverMs, paused.talkOverMs) ?? 0,
    },
  };
}

function judged(
  found: MeasuredTurns | undefined,
  ms: number,
  judge: (found: MeasuredTurns) => Judgement,
): Judgement {
  const expected = `at most ${ms} ms`;
  if (found === undefined) return { ok: false, expected, measured: 'nothing to measure' };
  const { unjudged } = found;
  if (unjudged !== null) return { ok: true, skipped: true, expected, measured: `not judged: ${unjudged}` };
  return judge(found);
}

function judgeResponse(ms: number, found: MeasuredTurns): Judgement {
  const { responseMs, earlyMs, earlyAfterPause, isUnanswered } = found;
  const expected = `at most ${ms} ms`;
  const earlyText = (byMs: number) => `${byMs} ms before the end of the turn`;
  if (earlyMs !== null) return { ok: false, kind: 'early-reply', expected, measured: earlyText(earlyMs) };
  if (earlyAfterPause !== undefined && !isUnanswered && (responseMs ?? 0) <= ms) {
    const measured = pausedText(earlyText(earlyAfterPause.ms), earlyAfterPause.pausedMs);
    return { ok: true, skipped: true, expected, measured };
  }
  if (isUnanswered || responseMs === null)
    return { ok: false, kind: 'no-reply', expected, measured: 'no reply' };
  return atMost(ms, responseMs);
}

function judgeYield(ms: number, { yieldMs, neverYields }: MeasuredTurns): Judgement {
  const expected = `at most ${ms} ms`;
  if (neverYields) return { ok: false, expected, measured: `more than ${neverYieldsMs} ms: the AI went on` };
  return yieldMs === null ? { ok: true, expected, measured: 'no reply was cut short' } : atMost(ms, yieldMs);
}

/** A reply of one message has no gap between messages. */
function isOneMessage(heard: MeasuredAudio): boolean {
  return heard.in.bytes > 0 && heard.longestGapMs === null;
}

function atLeast(leastMs: number, measuredMs: number, what: string): Judgement {
  return {
    ok: measuredMs > 0 && measuredMs >= leastMs,
    expected: leastMs === 0 ? `any ${what}` : `at least ${leastMs} ms`,
    measured: `${measuredMs} ms`,
  };
}

/** Without audio there is no measurement, and the limit is exceeded. */
function atMost(limitMs: number, measuredMs: number | null): Judgement {
  return {
    ok: measuredMs !== null && measuredMs <= limitMs,
    expected: `at most ${limitMs} ms`,
    measured: measuredMs === null ? 'nothing to measure' : `${measuredMs} ms`,
  };
}
