import type { Playable } from '../../service/streams/playable.ts';
import type { CreateReply } from './reply.ts';
import { detectTurns } from './turn-detector.ts';

/**
 * A reply that takes turns: it listens until the user has finished, replies, and stops as soon as the
 * user talks over it (barge-in). `reply` turns the user's audio into the reply.
 */
export function takeTurns(reply: (turn: Buffer) => Playable): CreateReply {
  return (voice) => {
    const turns = detectTurns(voice, {
      started() {
        if (!voice.speaking) return;
        voice.stop();
        voice.status('listening');
      },
      ended(turn) {
        voice.status('speaking');
        voice.say(reply(turn));
      },
    });
    voice.status('listening');
    return { ...turns, said: () => voice.status('listening') };
  };
}
