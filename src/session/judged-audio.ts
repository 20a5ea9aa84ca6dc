import type { Dialogue } from '../audio/dialogue/dialogue.ts';
import { dialogueRules } from '../audio/dialogue/rules.ts';
import { createTwoTracks } from '../audio/dialogue/two-tracks.ts';
import type { Pace } from '../audio/pacer.ts';
import type { LostTime } from '../audio/verdict/pace-check.ts';
import { createServiceVoice, type VoiceSummary } from '../audio/verdict/service-voice.ts';
import type { MeasuredTurns } from '../kernel/audio-limits.ts';
import { roundMs } from '../protocol/time-text.ts';
import type { ClipMoment } from './conversation/conversation.ts';
import { measureTurns } from './dialogue-verdicts.ts';
import type { SessionEventBody } from './events.ts';

/** What a session judges of the audio itself: the AI's voice, and who spoke when. */
export interface JudgedAudio {
  /** Takes audio; `at`, here and below: when it passed, on the clock of the session. */
  sent(frame: Buffer, at: number): void;
  received(pcm: Buffer, at: number): void;
  /** The service drops audio that has not been heard yet. */
  interrupted(at: number): void;
  /** A clip of a conversation begins or ends at `at`. Returns where in the sent audio, in milliseconds of the session. */
  clip(clip: ClipMoment, at: number): number;
  /** Whatever is sent from now on is silence. */
  sourceEnded(): void;
  end(at: number): void;
  voice(): VoiceSummary;
  /** Who spoke when, so far. */
  dialogue(): Dialogue;
  /** The figures that limits compare. `isEndedByService`: it was the service that ended the stream. */
  measure(isEndedByService: boolean): MeasuredTurns;
}

export interface JudgedAudioOptions {
  startedAt: number;
  waitMs: number;
  pace: Pace | undefined;
  pausedMs: (from: number, until: number) => number;
  /** Time in which the service was not read. */
  own: LostTime | undefined;
  warn: (warning: Extract<SessionEventBody, { type: 'warning' }>, at: number) => void;
}

export function createJudgedAudio(options: JudgedAudioOptions): JudgedAudio {
  const { startedAt, waitMs, pace, pausedMs, own, warn } = options;
  const voice = createServiceVoice(
    ({ finding, remark, agoMs }, at) =>
      warn(
        { type: 'warning', code: finding, message: remark, ...(agoMs === undefined ? {} : { agoMs }) },
        at,
      ),
    own,
  );
  const tracks = createTwoTracks({ pace, returned: () => voice.returned });
  const timeOf = (at: number) => roundMs(at - startedAt);
  let clipStartMs = 0;
  /** Whether a clip of a conversation is being said; undefined before the first. */
  let isInClip: boolean | undefined;
  let isSourceOver = false;
  /** Judged once, at the end: for a long session it takes a second. */
  let judged: Dialogue | undefined;
  const dialogue = () => {
    judged ??= tracks.judge(waitMs);
    return judged;
  };
  /** A turn that ended by then is over. One that ended later may go on after a pause. */
  const overMs = () => {
    if (isInClip === true) return clipStartMs;
    return isInClip === false || isSourceOver
      ? Number.POSITIVE_INFINITY
      : tracks.sentMs - dialogueRules.turnPauseMs;
  };

  return {
    sent(frame, at) {
      voice.sent(frame, at);
      tracks.sent(frame, timeOf(at));
      judged = undefined;
    },
    received(pcm, at) {
      voice.received(pcm, at);
      tracks.received(pcm, timeOf(at));
      judged = undefined;
    },
    interrupted(at) {
      voice.interrupted(at);
      tracks.interrupted(timeOf(at));
      judged = undefined;
    },
    clip({ turn, holdMs, state }, at) {
      const atMs = roundMs(Math.max(tracks.sentMs, timeOf(at)));
      isInClip = state === 'start';
      if (state === 'start') clipStartMs = atMs;
      else tracks.said({ turn, isTurn: holdMs === undefined, startMs: clipStartMs, endMs: atMs, holdMs });
      judged = undefined;
      return atMs;
    },
    sourceEnded() {
      isSourceOver = true;
    },
    end: voice.end,
    voice: voice.summary,
    dialogue,
    measure(isEndedByService) {
      const { turns, unjudged } = dialogue();
      const hungUpOnMs = isEndedByService ? overMs() : undefined;
      return measureTurns(turns, { unjudged, hungUpOnMs }, (from, until) =>
        pausedMs(startedAt + from, startedAt + until),
      );
    },
  };
}
