import { measureLevel } from '../../audio/level.ts';

/** Holds back the rest of a reply after the user has interrupted it. */
export interface Hold {
  /** The user speaks: the rest of the reply is not played. */
  start(now: number): void;
  /** The next audio is another reply. */
  end(): void;
  /** Whether this audio belongs to the reply that was interrupted. */
  covers(pcm: Buffer, now: number): boolean;
}

/** After a pause of this length the reply has ended, or the service has noticed the interruption. */
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
