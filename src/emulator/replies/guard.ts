import { type Pcm, pcmBytes } from '../../audio/whole-pcm.ts';
import { messageOf, VoicectlError } from '../../kernel/errors.ts';
import type { Playable } from '../../service/streams/playable.ts';
import type { CreateReply, Reply, Voice } from './reply.ts';

/** Runs code so that `fail` also takes what it throws later, in a callback of its own. */
type RunForeign = <Result>(fail: (thrown: unknown) => void, call: () => Result) => Result;

/**
 * Guards a reply whose code is the user's. An error that it throws is reported on its stream, and the stream
 * continues without a reply. Other streams are not affected. `run`: if the process is ours, how to run the code.
 */
export function guardReply(
  createReply: CreateReply,
  voice: Voice,
  run: RunForeign = (_, call) => call(),
): Reply {
  let hasFailed = false;
  const fail = (thrown: unknown) => {
    if (!hasFailed) voice.fail(messageOf(thrown));
    hasFailed = true;
  };
  const attempt = <Result>(call: () => Result): Result | undefined => {
    if (hasFailed) return undefined;
    try {
      const result = run(fail, call);
      // An asynchronous function fails later.
      if (result instanceof Promise) result.catch(fail);
      return result;
    } catch (thrown) {
      fail(thrown);
      return undefined;
    }
  };
  const guarded: Voice = Object.create(voice, {
    send: { value: (pcm: Pcm) => voice.send(pcmBytes(pcm)) },
    say: {
      value(said: Playable) {
        if (typeof said?.read !== 'function') throw notPlayable();
        const read = (bytes: number) => {
          const pcm = said.read(bytes);
          return pcm && pcmBytes(pcm);
        };
        voice.say({ read: (bytes) => attempt(() => read(bytes)) });
      },
    },
  });
  const reply = attempt(() => createReply(guarded));
  return {
    hear: (pcm) => attempt(() => reply?.hear(pcm)),
    said: () => attempt(() => reply?.said?.()),
    endTurn: () => attempt(() => reply?.endTurn?.()) === true,
    event: (name) => attempt(() => reply?.event?.(name)),
    close: () => attempt(() => reply?.close?.()),
  };
}

function notPlayable(): VoicectlError {
  return new VoicectlError('usage', 'A reply must have a method read, like the result of playPcm');
}
