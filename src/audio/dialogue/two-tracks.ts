import { msForBytes } from '../../protocol/audio-format.ts';
import { createBlockJoiner } from '../whole-samples.ts';
import type { Dialogue, ScriptedClip } from './dialogue.ts';
import { judgeDialogue } from './judge-dialogue.ts';
import { createReceivedTrack, createSentTrack, type HeardTrack } from './listener.ts';
import { createStepLevels, stepFrom } from './step-levels.ts';

/**
 * Both sides of a session on the axis of a listener, message by message: of a running session, and of a recording. Times
 * are milliseconds since the session began. State: the levels of both sides, at most for an hour.
 */
export interface TwoTracks {
  /** Takes 16 kHz s16le mono of any number of bytes. */
  sent(pcm: Buffer, t: number): void;
  received(pcm: Buffer, t: number): void;
  /** The service cancels audio that was not heard yet. */
  interrupted(t: number): void;
  /** What the user said by a script, so far. */
  said(clip: ScriptedClip): void;
  /** Where sent audio ends, in milliseconds of the axis. */
  readonly sentMs: number;
  judge(waitMs: number): Dialogue;
}

export function createTwoTracks(): TwoTracks {
  const [user, ai] = [createSide(createSentTrack()), createSide(createReceivedTrack())];
  const stops: number[] = [];
  let clips: ScriptedClip[] | undefined;
  return {
    sent: user.add,
    received: ai.add,
    interrupted(t) {
      stops.push(t);
      ai.drop(t);
    },
    said(clip) {
      clips = [...(clips ?? []), clip];
    },
    get sentMs() {
      return user.endMs;
    },
    judge: (waitMs) => {
      const endMs = Math.max(user.endMs, ai.endMs);
      const found = judgeDialogue({ user: user.read(endMs), ai: ai.read(endMs), clips, stops, waitMs });
      return user.isFull || ai.isFull ? { ...found, unjudged: 'only the first hour is judged' } : found;
    },
  };
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
    read: levels.read,
  };
}
