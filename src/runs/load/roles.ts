import { VoicectlError } from '../../kernel/errors.ts';
import type { FailureKind } from '../../kernel/failure-kind.ts';
import type { LoadContext } from './context.ts';
import type { Ear } from './ear.ts';
import type { Mouth } from './mouth.ts';
import { bargeInAfterMs } from './tasks.ts';

/** What a device does on a confirmed stream: asked for each frame that is due. */
export interface LoadRole {
  /** Sends the frame that is due. Returns whether the session is over. Throws if the service failed it. */
  tick(due: number): boolean;
}

type Parts = Pick<LoadContext, 'tally' | 'times'> & { ear: Ear; mouth: Mouth; confirmedAt: number };

/** Without AI audio for this long, an interrupted reply has stopped. */
const stoppedAfterMs = 300;
/** A reply that goes on for this long, and until the end of the speech that interrupts it, has not stopped. */
const stopWithinMs = 1_000;

/** Sends silence and listens until the moment `until`. */
export function createListener({ mouth }: Pick<Parts, 'mouth'>, until: number): LoadRole {
  return {
    tick(due) {
      mouth.send(due, until);
      return due >= until;
    },
  };
}

/** Speaks, hears the reply, and speaks again until `holdMs` is over; may interrupt the first reply of each turn. */
export function createTalker(
  { ear, mouth, confirmedAt, times, tally }: Parts,
  interrupts: boolean,
): LoadRole {
  let mayInterrupt = interrupts;
  let interruptedAt: number | undefined;

  const interrupt = (due: number) => {
    mayInterrupt = false;
    interruptedAt = due;
    ear.endReply();
    mouth.speak();
  };
  const watchStop = (due: number) => {
    if (interruptedAt === undefined) return;
    if (due - Math.max(ear.lastAt, interruptedAt) >= stoppedAfterMs) {
      tally.finished('stops', Math.max(0, ear.lastAt - interruptedAt), interruptedAt);
      interruptedAt = undefined;
    } else if (!mouth.isSpeaking && due - interruptedAt >= stopWithinMs) {
      tally.unfinished('stops', due - interruptedAt);
      interruptedAt = undefined;
      throw failure('not-interrupted', 'The AI went on speaking when it was interrupted');
    }
  };
  const isTurnOver = (due: number): boolean => {
    if (mouth.isSpeaking) return false;
    const { replyBegan, awaitedSince } = ear;
    if (awaitedSince !== undefined && due - awaitedSince >= times.waitMs) {
      ear.giveUp(due);
      throw failure('late-audio', `No reply began within ${times.waitMs / 1000} s`);
    }
    if (replyBegan === undefined) return false;
    return due - ear.lastAt >= times.settleMs || due - replyBegan >= times.waitMs;
  };

  mouth.speak();
  return {
    tick(due) {
      watchStop(due);
      if (mayInterrupt && !mouth.isSpeaking && due - (ear.replyBegan ?? due) >= bargeInAfterMs)
        interrupt(due);
      else if (isTurnOver(due)) {
        ear.endReply();
        if (due - confirmedAt >= times.holdMs) return true;
        mayInterrupt = interrupts;
        mouth.speak();
      }
      if (mouth.send(due)) ear.expect(due);
      return false;
    },
  };
}

function failure(kind: FailureKind, message: string): VoicectlError {
  return new VoicectlError('expectation-failed', message, { details: { kind } });
}
