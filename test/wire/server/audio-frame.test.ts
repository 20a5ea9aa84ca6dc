import { expect, test } from 'vitest';
import { createAudioHeaders } from '../../../src/wire/server/audio-frame.ts';

/** The frame as the WebSocket library makes it; its types do not tell of this class. */
const { Sender } = (await import('ws')) as unknown as {
  Sender: { frame(data: Buffer, options: object): Buffer[] };
};

test.each([0, 1, 125, 126, 640, 65_535, 65_536, 1_048_576])(
  'the header of %d bytes is the one that ws makes',
  (bytes) => {
    const options = { fin: true, rsv1: false, opcode: 2, mask: false, readOnly: true };
    const [header] = Sender.frame(Buffer.alloc(bytes), options);
    expect(createAudioHeaders()(bytes)).toEqual(header);
  },
);

test('one header serves all messages of its length', () => {
  const headerOf = createAudioHeaders();
  expect(headerOf(640)).toBe(headerOf(640));
});

test('headers of many different lengths are right, and not all of them are kept', () => {
  const headerOf = createAudioHeaders();
  for (let bytes = 200; bytes < 1_000; bytes += 1) expect(headerOf(bytes).readUInt16BE(2)).toBe(bytes);
  expect(headerOf(900)).not.toBe(headerOf(900));
});
