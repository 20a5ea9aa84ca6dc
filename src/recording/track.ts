import { bytesForMs } from '../protocol/audio-format.ts';

/** Puts the messages of one voice on the time axis, where byte 0 is `t` 0. */
export interface Track {
  /** Where the audio of a message that came at `t` begins, and how much silence goes before it. */
  place(t: number, bytes: number): { at: number; silenceBytes: number };
  /** Bytes so far, silence included. */
  readonly endBytes: number;
}

/**
 * Audio never overlaps, as where it is played as it comes: what comes early waits for the end of what came before, what
 * comes late by no more than `slackMs` is put right behind it, and later than that silence fills the time. Silence
 * is whole samples, so that halves of a sample that were sent apart stay together.
 */
export function createTrack(slackMs: number): Track {
  const slackBytes = bytesForMs(slackMs);
  let endBytes = 0;
  return {
    get endBytes() {
      return endBytes;
    },
    place(t, bytes) {
      const missing = bytesForMs(t) - endBytes;
      const isGap = missing > (endBytes === 0 ? 0 : slackBytes);
      const silenceBytes = isGap ? missing - (missing % 2) : 0;
      const at = endBytes + silenceBytes;
      endBytes = at + bytes;
      return { at, silenceBytes };
    },
  };
}
