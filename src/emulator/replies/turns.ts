import { types } from 'node:util';
import { messageOf } from '../../kernel/errors.ts';
import type { Playable } from '../../service/streams/playable.ts';
import type { CreateReply } from './reply.ts';
import { detectTurns } from './turn-detector.ts';

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
