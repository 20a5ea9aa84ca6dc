import { expect, test } from 'vitest';
import { frameAudio } from '../../src/emulator/audio-frame.ts';

/** The frame as the WebSocket library makes it; its types do not tell of this class. */
const { Sender } = (await import('ws')) as unknown as {
  Sender: { frame(data: Buffer, options: object): Buffer[] };
};

test.each([0, 1, 125, 126, 640, 65_535, 65_536, 1_048_576])(
  'a frame of %d bytes is the one that ws makes',
  (bytes) => {
    const pcm = Buffer.from(Array.from({ length: bytes }, (_, at) => at % 251));
    const options = { fin: true, rsv1: false, opcode: 2, mask: false, readOnly: true };
    expect(frameAudio(pcm).equals(Buffer.concat(Sender.frame(pcm, options)))).toBe(true);
  },
);

test('a frame holds a copy, so that the audio may be used again', () => {
  const pcm = Buffer.from([1, 2]);
  const frame = frameAudio(pcm);
  pcm.fill(9);
  expect([...frame]).toEqual([0x82, 2, 1, 2]);
});
