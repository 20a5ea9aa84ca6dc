import { TurnGate } from '../../audio/turn-gate.ts';
import { bytesForMs, msForBytes } from '../../protocol/audio-format.ts';
import type { Reply, Voice } from './reply.ts';

/** Audio added before and after a turn, so that no word is cut. */
const marginMs = 120;
const prerollBytes = bytesForMs(1_000);

export interface UserTurns {
  /** The user has begun to speak. */
  started(): void;
  /** The user has finished: the turn, with a little audio around it. */
  ended(turn: Buffer): void;
}

/** Detects the user's turns. Reports each to the stream, then to the listener. */
export function detectTurns(
  voice: Pick<Voice, 'clock' | 'shortestTurnMs' | 'turnStarted' | 'turnEnded'>,
  listener: UserTurns,
): Required<Pick<Reply, 'hear' | 'close' | 'endTurn'>> {
  const heard = createTurnBuffer();
  const gate = new TurnGate(
    {
      started({ startMs }) {
        voice.turnStarted(startMs);
        listener.started();
      },
      ended({ startMs, endMs, agoMs }) {
        voice.turnEnded(endMs, endMs - startMs, agoMs);
        listener.ended(heard.slice(startMs - marginMs, endMs + marginMs));
      },
    },
    voice,
  );
  return {
    hear(pcm) {
      heard.push(pcm);
      gate.push(pcm);
      if (!gate.speaking) heard.forgetBefore(prerollBytes);
    },
    endTurn: () => gate.endTurn(),
    close: () => gate.close(),
  };
}

/** The user's audio, beginning a little before the turn. */
interface TurnBuffer {
  push(pcm: Buffer): void;
  /** Keeps at least the last `bytes`, and drops whole blocks before them. */
  forgetBefore(bytes: number): void;
  /** The audio between two moments, in milliseconds since the stream began, if it is still kept. */
  slice(fromMs: number, toMs: number): Buffer;
}

const blockBytes = bytesForMs(250);

/**
 * Copies audio into blocks: a message that is kept, even one of two bytes, would keep the memory of a whole read of the
 * socket. The caller limits the size: with `forgetBefore`, and by the longest turn of the speech gate.
 */
export function createTurnBuffer(): TurnBuffer {
  const blocks: Buffer[] = [];
  /** Bytes of the stream before the first block, and in the blocks. */
  let start = 0;
  let length = 0;
  return {
    push(pcm) {
      for (let from = 0; from < pcm.length; ) {
        const at = length % blockBytes;
        if (at === 0) blocks.push(Buffer.allocUnsafeSlow(blockBytes));
        blocks.at(-1)?.set(pcm.subarray(from, from + blockBytes - at), at);
        const bytes = Math.min(pcm.length - from, blockBytes - at);
        from += bytes;
        length += bytes;
      }
    },
    forgetBefore(bytes) {
      while (length - blockBytes >= bytes) {
        blocks.shift();
        length -= blockBytes;
        start += blockBytes;
      }
    },
    slice(fromMs, toMs) {
      const from = Math.max(0, bytesForMs(Math.max(fromMs, msForBytes(start))) - start);
      const to = Math.min(length, bytesForMs(toMs) - start);
      return Buffer.concat(blocks).subarray(from, Math.max(from, to));
    },
  };
}
