import type { Playable } from '../../service/streams/playable.ts';
import type { CreateReply } from './reply.ts';
import { detectTurns } from './turn-detector.ts';

/**
 * A reply that takes turns: it listens until the user has finished, answers, and stops as soon as the
 * user talks over it (barge-in). `answer` turns the user's audio into the answer.
 */
export function takeTurns(answer: (utterance: Buffer) => Playable): CreateReply {
  return (voice) => {
    const turns = detectTurns(voice, {
      started() {
        if (!voice.speaking) return;
        voice.stop();
        voice.status('listening');
      },
      ended(utterance) {
        voice.status('speaking');
        voice.say(answer(utterance));
      },
    });
    voice.status('listening');
    return { ...turns, said: () => voice.status('listening') };
  };
}
