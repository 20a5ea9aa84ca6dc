import { pausedText } from '../../kernel/lateness.ts';
import { isOfKind, type ServiceMessage } from '../../protocol/messages.ts';
import { roundMs } from '../../protocol/time-text.ts';
import { type ExpectationVerdict, verdict } from '../expectations.ts';
import type { Following as AnyFollowing, EventMatch } from './conversation-plan.ts';
import { findMismatch, matchesText } from './field-match.ts';
import type { TurnAudio } from './turn-audio.ts';

/** What must follow a turn. */
export interface Awaited {
  /** Checks for silence, whose beginning no event marks. */
  look(now: number): void;
  message(message: ServiceMessage, now: number): void;
  /** Whether everything has arrived, or can no longer arrive in time. `hasPassedOn`: the next turn has begun. */
  isDecided(now: number, hasPassedOn: boolean): boolean;
  /** `until`: the end of the turn so far. */
  verdicts(until: number): ExpectationVerdict[];
}

/** What is noticed when it happens; `hold` is judged at the end. */
type Following = Exclude<AnyFollowing, { type: 'hold' }>;

/** The result of one thing that must follow. */
interface Followed {
  following: Following;
  /** When it arrived. */
  at?: number;
  /** Describes a message of its kind whose fields did not match. */
  mismatch?: string | undefined;
}

export interface AwaitedOptions {
  audio: TurnAudio;
  /** How long to wait if an expectation does not specify it. */
  waitMs: number;
  /** How long this process did not run between two times, at the longest. */
  pausedMs(from: number, until: number): number;
  /** Until when a listener hears the AI, including audio that it sent ahead. */
  heardUntil(): number;
}

export function createAwaited(
  expect: readonly AnyFollowing[],
  { audio, waitMs, pausedMs, heardUntil }: AwaitedOptions,
): Awaited {
  const awaited = expect.flatMap((following): Followed[] =>
    following.type === 'hold' ? [] : [{ following }],
  );
  const withinMs = ({ following }: Followed) => following.withinMs ?? waitMs;
  const beginOf = ({ following }: Followed) =>
    following.type === 'silence' ? audio.speechBeganAt : audio.speechEndedAt;
  const cameAt = ({ following, at }: Followed) =>
    following.type === 'audio' ? audio.reachedAt(following.audioMs) : at;

  const judge = (one: Followed, until: number): ExpectationVerdict => {
    const [begin, at] = [beginOf(one), cameAt(one)];
    const tookMs = begin === undefined || at === undefined ? undefined : at - begin;
    const waited = begin === undefined ? '' : ` in ${roundMs(Math.min(until - begin, withinMs(one)))} ms`;
    const judged = verdictOn(one, at !== undefined, {
      ok: tookMs !== undefined && tookMs <= withinMs(one),
      expected: `${followingText(one.following)} within ${withinMs(one)} ms`,
      measured: tookMs === undefined ? `${one.mismatch ?? 'never'}${waited}` : afterText(tookMs),
    });
    if (judged.ok || begin === undefined || at === undefined) return judged;
    const ownMs = pausedMs(begin, at);
    if (at - begin - ownMs > withinMs(one)) return judged;
    const { name, expected, measured } = judged;
    return { name, ok: true, skipped: true, expected, measured: pausedText(measured, ownMs) };
  };

  return {
    look(now) {
      for (const one of awaited) {
        if (one.following.type !== 'silence' || one.at !== undefined) continue;
        const since = Math.max(audio.speechBeganAt, heardUntil());
        if (now - since >= one.following.silenceMs) one.at = since;
      }
    },
    message(message, now) {
      for (const one of awaited) {
        if (one.following.type !== 'event' || one.at !== undefined) continue;
        if (!isOfKind(message, one.following.event.kind)) continue;
        one.mismatch = findMismatch(one.following.event.where, message.body);
        if (one.mismatch === undefined) one.at = now;
      }
    },
    isDecided: (now, hasPassedOn) =>
      awaited.every((one) => {
        if (cameAt(one) !== undefined) return true;
        if (hasPassedOn && one.following.type !== 'event') return true;
        const begin = beginOf(one);
        const looksOnMs = one.following.type === 'silence' ? one.following.silenceMs : 0;
        return begin !== undefined && now > begin + withinMs(one) + looksOnMs + pausedMs(begin, now);
      }),
    verdicts: (until) => awaited.map((one) => judge(one, until)),
  };
}

function verdictOn(
  { following, mismatch }: Followed,
  came: boolean,
  found: Parameters<typeof verdict>[2],
): ExpectationVerdict {
  switch (following.type) {
    case 'audio':
      return verdict('expect audio', came ? 'late-audio' : 'too-little-audio', found);
    case 'silence':
      return verdict('expect silence', 'not-interrupted', found);
    case 'event':
      return verdict(
        'expect event',
        !came && mismatch !== undefined ? 'wrong-field' : 'missing-event',
        found,
      );
  }
}

function followingText(following: Following): string {
  switch (following.type) {
    case 'audio':
      return following.audioMs === 0 ? 'any AI audio' : `${following.audioMs} ms of AI audio`;
    case 'silence':
      return `${following.silenceMs} ms of silence`;
    case 'event':
      return eventText(following.event);
  }
}

/** An event as text: its kind, and the expected fields. */
export function eventText({ kind, where }: EventMatch): string {
  const fields = matchesText(where);
  return fields === '' ? kind : `${kind} where ${fields}`;
}

function afterText(ms: number): string {
  return ms < 0 ? `${roundMs(-ms)} ms before` : `after ${roundMs(ms)} ms`;
}
