import type { Playable } from './playable.ts';
import type { CreateReply, Reply, Voice } from './reply.ts';

/**
 * A reply that is a program of the user: what it throws is reported on its stream, it hears nothing more, and the stream
 * goes on. All other streams are left alone.
 */
export function guardReply(createReply: CreateReply, voice: Voice): Reply {
  let hasFailed = false;
  const fail = (thrown: unknown) => {
    if (!hasFailed) voice.fail(thrown instanceof Error ? thrown.message : String(thrown));
    hasFailed = true;
  };
  const attempt = <Result>(call: () => Result): Result | undefined => {
    if (hasFailed) return undefined;
    try {
      const result = call();
      // What is asynchronous fails later.
      if (result instanceof Promise) result.catch(fail);
      return result;
    } catch (thrown) {
      fail(thrown);
      return undefined;
    }
  };
  const guarded: Voice = Object.create(voice, {
    say: { value: (said: Playable) => voice.say({ read: (bytes) => attempt(() => said.read(bytes)) }) },
  });
  const reply = attempt(() => createReply(guarded));
  return {
    hear: (pcm) => attempt(() => reply?.hear(pcm)),
    said: () => attempt(() => reply?.said?.()),
    event: (name) => attempt(() => reply?.event?.(name)),
    close: () => attempt(() => reply?.close?.()),
  };
}
