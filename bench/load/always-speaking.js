/**
 * A reply module, for the benchmark of being spoken to: speaks without end once it has heard anything.
 *
 * @param {import('../../src/emulator/replies/reply.ts').Voice} voice
 */
export function createReply(voice) {
  const pcm = Buffer.alloc(640);
  return {
    hear() {
      if (!voice.speaking) voice.say({ read: (bytes) => pcm.subarray(0, bytes) });
    },
  };
}
