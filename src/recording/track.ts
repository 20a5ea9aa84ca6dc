import { bytesForMs } from '../protocol/audio-format.ts';

/** Places the messages of one voice on the time axis. Byte 0 is `t` 0. */
export interface Track {
  /** Where the audio of a message from time `t` starts, and how much silence precedes it. */
  place(t: number, bytes: number): { at: number; silenceBytes: number };
  /** Nothing has come by `t`: fills the time with silence, unless a message may still follow directly. Returns how much. */
  rest(t: number): number;
  /** Adds silence up to this many bytes. Returns how much was added. */
  fill(toBytes: number): number;
  /** Removes what lies beyond this byte: nobody hears it. */
  cut(toBytes: number): void;
  /** Bytes so far, including silence. */
  readonly endBytes: number;
}

/**
 * Audio never overlaps, as in immediate playback: an early message waits for the end of the previous one, a message that is
 * late by up to `slackMs` follows directly, and before a later one silence fills the time. Silence consists of whole
 * samples, so that the halves of a split sample stay together.
 */
export function createTrack(slackMs: number): Track {
  const slackBytes = bytesForMs(slackMs);
  let endBytes = 0;
  /** Whether the next message begins at its own time. */
  let isResting = true;
  return {
    get endBytes() {
      return endBytes;
    },
    rest(t) {
      const missing = bytesForMs(t) - endBytes;
      if (missing <= slackBytes) return 0;
      const silenceBytes = missing - (missing % 2);
      endBytes += silenceBytes;
      isResting = true;
      return silenceBytes;
    },
    cut(toBytes) {
      endBytes = Math.min(endBytes, toBytes);
    },
    fill(toBytes) {
      const silenceBytes = Math.max(0, toBytes - endBytes);
      endBytes += silenceBytes;
      return silenceBytes;
    },
    place(t, bytes) {
      const missing = bytesForMs(t) - endBytes;
      const isGap = missing > (isResting ? 0 : slackBytes);
      isResting = false;
      const silenceBytes = isGap ? missing - (missing % 2) : 0;
      const at = endBytes + silenceBytes;
      endBytes = at + bytes;
      return { at, silenceBytes };
    },
  };
}
