import { bytesForMs, msForBytes } from '../../protocol/audio-format.ts';
import { createBlockJoiner } from '../blocks.ts';
import type { Pace } from '../pacer.ts';
import { type EchoKind, echoKindText, UserEchoDetector } from '../user-echo.ts';
import type { Dialogue, ScriptedClip } from './dialogue.ts';
import { judgeDialogue } from './judge-dialogue.ts';
import { createReceivedTrack, createSentTrack, type HeardTrack } from './listener.ts';
import { dialogueRules } from './rules.ts';
import type { SoundSpan } from './sound-spans.ts';
import { createStepLevels, stepFrom } from './step-levels.ts';

/**
 * Both sides of a running or recorded session on the time axis of a listener, message by message. Times are milliseconds since
 * the session began. State: the levels of both sides, at most for an hour.
 */
export interface TwoTracks {
  /** Takes 16 kHz s16le mono of any number of bytes. */
  sent(pcm: Buffer, t: number): void;
  received(pcm: Buffer, t: number): void;
  /** The service cancels audio that has not been heard yet. */
  interrupted(t: number): void;
  /** Takes a clip that the user said from a script. */
  said(clip: ScriptedClip): void;
  /** Where sent audio ends on the time axis, in milliseconds. */
  readonly sentMs: number;
  /** Where the kept audio begins: 0 if everything is kept. */
  readonly keptFromMs: number;
  /**
   * Judges the kept audio up to `untilMs`. Default: all of it. The times of the result count from `keptFromMs`.
   */
  judge(waitMs: number, untilMs?: number): Dialogue;
}

export interface TwoTracksOptions {
  /** How much audio is judged, and at least kept; default: all. In an endless session only the newest part is judged. */
  keepMs?: number;
  /** The pace of the sent audio, whose time axis is not that of a listener at another pace than 1. Default: 1. */
  pace?: Pace | undefined;
  /** Whether the service echoes, if somebody else detects that. */
  returned?: () => EchoKind | undefined;
}

export function createTwoTracks({ keepMs, pace = 1, returned }: TwoTracksOptions = {}): TwoTracks {
  const back = returned === undefined ? new UserEchoDetector() : undefined;
  const [user, ai] = [createSide(createSentTrack()), createSide(createReceivedTrack())];
  let stops: number[] = [];
  let clips: ScriptedClip[] | undefined;
  let keptFromMs = 0;
  const forget = (untilMs: number) => {
    if (keepMs === undefined || untilMs - keepMs <= keptFromMs) return;
    const step = stepFrom(bytesForMs(untilMs - keepMs));
    keptFromMs = step * dialogueRules.stepMs;
    for (const side of [user, ai]) side.forgetBefore(step);
    stops = stops.filter((at) => at >= keptFromMs);
    clips = clips?.filter(({ endMs }) => endMs > keptFromMs);
  };
  /** Between judgements too, which may be far apart. */
  const forgetLong = (t: number) => {
    if (keepMs !== undefined && t - keptFromMs > 2 * keepMs) forget(t);
  };
  const sinceKept = <Span extends SoundSpan>(span: Span): Span => ({
    ...span,
    startMs: span.startMs - keptFromMs,
    endMs: span.endMs - keptFromMs,
  });
  return {
    sent(pcm, t) {
      forgetLong(t);
      user.add(pcm, t);
      back?.said(pcm, t);
    },
    received(pcm, t) {
      forgetLong(t);
      ai.add(pcm, t);
      back?.heard(pcm, t);
    },
    interrupted(t) {
      stops.push(t);
      ai.drop(t);
      back?.interrupted(t);
    },
    said(clip) {
      clips = [...(clips ?? []), clip];
    },
    get sentMs() {
      return user.endMs;
    },
    get keptFromMs() {
      return keptFromMs;
    },
    judge: (waitMs, untilMs) => {
      const endMs = untilMs ?? Math.max(user.endMs, ai.endMs);
      forget(endMs);
      const found = judgeDialogue({
        user: user.read(endMs),
        ai: ai.read(endMs),
        clips: clips?.map(sinceKept),
        stops: stops.map((at) => at - keptFromMs),
        waitMs,
        unjudged: whyUnjudged(pace, back === undefined ? returned?.() : back.is),
      });
      return user.isFull || ai.isFull ? { ...found, unjudged: 'only the first hour is judged' } : found;
    },
  };
}

function whyUnjudged(pace: Pace, returned: EchoKind | undefined): string | null {
  if (pace !== 1) return 'the audio was not sent in real time';
  // An echo overlaps completely.
  return returned === 'echo' ? echoKindText.echo : null;
}

function createSide(track: HeardTrack) {
  const levels = createStepLevels();
  const samples = createBlockJoiner();
  return {
    add(pcm: Buffer, t: number) {
      const whole = samples.push(pcm);
      if (whole.length > 0) levels.add(track.place(t, whole.length), whole);
    },
    drop(t: number) {
      const at = track.drop(t);
      if (at !== undefined) levels.clearFrom(stepFrom(at));
    },
    get endMs() {
      return msForBytes(track.endBytes);
    },
    get isFull() {
      return levels.isFull;
    },
    forgetBefore: levels.forgetBefore,
    read: levels.read,
  };
}
