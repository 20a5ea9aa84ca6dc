import { measureLevel } from '../../audio/level.ts';
import type { RecoveryOptions } from '../process/recovery.ts';
import type { Speaker } from './speaker.ts';

/**
 * Replaces a loudspeaker that was held up or had nothing to play. Sound servers and libraries keep the audio of a stall in
 * their own buffers, and the device plays late from then on. A newly opened device does not.
 */
export interface Renewal {
  /** Takes the next frame to play. Returns the new loudspeaker if it takes over with this frame. */
  next(isSuspect: boolean, frame: Buffer | undefined): Speaker | undefined;
  /** Ends a loudspeaker that is waiting to take over. */
  close(): Promise<void>;
}

export type RenewalOptions = Pick<RecoveryOptions<Speaker>, 'open' | 'clock' | 'signal'>;

/** The shortest time between two attempts. */
const restMs = 15_000;
/** The new loudspeaker takes over in a pause of the reply, or after this time. */
const patienceMs = 2_000;
const quietDbfs = -45;

export function createRenewal({ open, clock, signal }: RenewalOptions): Renewal {
  let fresh: { speaker: Speaker; since: number } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let opening: Promise<void> | undefined;
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);

  const openBeside = async () => {
    // If only one program can use the device at a time, nothing changes.
    const speaker = await open(until).catch(() => undefined);
    opening = undefined;
    if (speaker === undefined) return;
    if (over.signal.aborted) return speaker.stop();
    const waiting = { speaker, since: clock.now() };
    fresh = waiting;
    speaker.lost.catch(() => {
      // After it has taken over, its user ends it.
      if (fresh !== waiting) return;
      fresh = undefined;
      void speaker.stop();
    });
  };
  return {
    next(isSuspect, frame) {
      const now = clock.now();
      if (fresh === undefined) {
        if (!isSuspect || opening !== undefined || now - triedAt < restMs) return undefined;
        triedAt = now;
        opening = openBeside();
        return undefined;
      }
      const isLoud = frame !== undefined && measureLevel(frame).peakDbfs > quietDbfs;
      if (isLoud && now - fresh.since < patienceMs) return undefined;
      const { speaker } = fresh;
      fresh = undefined;
      return speaker;
    },
    async close() {
      over.abort();
      await Promise.all([opening, fresh?.speaker.stop()]);
    },
  };
}
