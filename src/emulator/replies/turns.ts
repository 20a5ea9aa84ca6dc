import { types } from 'node:util';
import { TurnGate } from '../../audio/turn-gate.ts';
import { messageOf } from '../../kernel/errors.ts';
import { bytesForMs, msForBytes } from '../../protocol/audio-format.ts';
import type { Playable } from '../../service/streams/playable.ts';
import type { CreateReply, Reply, Voice } from './reply.ts';

/**
 * A reply that takes turns: it listens until the user has finished, replies, and stops as soon as the
 * user talks over it (barge-in). `reply` turns the user's audio into the reply, at once or later: a reply that comes
 * when the user speaks again is dropped. If it rejects, that turn has no reply.
 */
export function takeTurns(reply: (turn: Buffer) => Playable | Promise<Playable>): CreateReply {
  return (voice) => {
    let awaited: Promise<Playable> | undefined;
    const say = (playable: Playable) => {
      voice.status('speaking');
      voice.say(playable);
    };
    const sayLater = async (promised: Promise<Playable>) => {
      awaited = promised;
      try {
        const playable = await promised;
        if (awaited === promised) say(playable);
      } catch (thrown) {
        if (awaited === promised) voice.fail(messageOf(thrown));
      }
    };
    const turns = detectTurns(voice, {
      started() {
        awaited = undefined;
        if (!voice.speaking) return;
        voice.stop();
        voice.status('listening');
      },
      ended(turn) {
        const answer = reply(turn);
        if (types.isPromise(answer)) void sayLater(answer as Promise<Playable>);
        else say(answer);
      },
    });
    voice.status('listening');
    return {
      ...turns,
      said: () => voice.status('listening'),
      close() {
        awaited = undefined;
        turns.close();
      },
    };
  };
}

/** Audio added before and after a turn, so that no word is cut. */
const marginMs = 120;
const prerollBytes = bytesForMs(1_000);

interface UserTurns {
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
