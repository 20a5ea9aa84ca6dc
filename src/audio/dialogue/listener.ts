import { bytesForMs } from '../../protocol/audio-format.ts';
import { dialogueRules } from './rules.ts';
import { stepFrom } from './step-levels.ts';

/**
 * How late a message may be and still follow the previous one directly. Sent audio is continuous, and a sender catches up
 * after a delay of up to 200 ms. Received audio is heard at once, but halves of a sample stay together.
 */
export const maxLatenessMs = { out: 250, in: 1 } as const;
const stepBytes = bytesForMs(dialogueRules.stepMs);

/** Where the messages of one side are on the time axis, in bytes. Byte 0 is the start of the session. */
export interface HeardTrack {
  /** Where a message of whole samples from time `t` begins. */
  place(t: number, bytes: number): number;
  /** Removes what is heard from the next step after `t` on. Returns the byte of that step; undefined if nothing is removed. */
  drop(t: number): number | undefined;
  /** Where the audio so far ends. */
  readonly endBytes: number;
}

/**
 * The user's side: continuous, like a microphone. A message that is late by up to 250 ms follows the previous one directly.
 */
export function createSentTrack(): HeardTrack {
  return createHeardTrack(bytesForMs(maxLatenessMs.out));
}

/**
 * The AI's side as a listener without a jitter buffer hears it: a message is played when it arrives, or after the audio that
 * is still playing. Lost time is never caught up.
 */
export function createReceivedTrack(): HeardTrack {
  return createHeardTrack(bytesForMs(maxLatenessMs.in));
}

function createHeardTrack(slackBytes: number): HeardTrack {
  let endBytes = 0;
  let hasBegun = false;
  return {
    get endBytes() {
      return endBytes;
    },
    place(t, bytes) {
      const due = bytesForMs(t);
      const at = due - endBytes > (hasBegun ? slackBytes : 0) ? due : endBytes;
      hasBegun = true;
      endBytes = at + bytes;
      return at;
    },
    drop(t) {
      const at = stepFrom(bytesForMs(t)) * stepBytes;
      if (at >= endBytes) return undefined;
      endBytes = at;
      return at;
    },
  };
}
