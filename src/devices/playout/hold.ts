import { measureLevel } from '../../audio/level.ts';

/** Keeps the rest of a reply from being played once the user has interrupted it. */
export interface Hold {
  /** The user speaks: what still comes of the reply is not wanted. */
  start(now: number): void;
  /** What comes next is another reply. */
  end(): void;
  /** Whether this audio belongs to the reply that was interrupted. */
  covers(pcm: Buffer, now: number): boolean;
}

/** A reply that pauses for this long has ended, or its service has noticed the interruption. */
const pauseMs = 500;
const audibleDbfs = -60;

export function createHold(): Hold {
  let heardAt: number | undefined;
  return {
    start(now) {
      heardAt = now;
    },
    end() {
      heardAt = undefined;
    },
    covers(pcm, now) {
      if (heardAt === undefined) return false;
      if (now - heardAt >= pauseMs) {
        heardAt = undefined;
        return false;
      }
      if (measureLevel(pcm).peakDbfs > audibleDbfs) heardAt = now;
      return true;
    },
  };
}
