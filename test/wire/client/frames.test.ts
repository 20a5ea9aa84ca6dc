import fc from 'fast-check';
import { expect, test } from 'vitest';

// @ts-expect-error The types of ws leave out its sender.
import { Sender } from 'ws';
import { FrameReader, maxMessageBytes } from '../../../src/wire/client/frames.ts';

/** What a reader tells of bytes that come in pieces of these sizes. */
function read(bytes: Buffer, sizes: readonly number[] = [bytes.length]) {
  const told: [kind: string, text: string][] = [];
  const tell = (kind: string) => (payload: Buffer) => void told.push([kind, payload.toString('latin1')]);
  const reader = new FrameReader({
    binary: (bytes) => {
      expect(reader.payload).toHaveLength(bytes);
      tell('binary')(reader.payload);
    },
    text: tell('text'),
    ping: tell('ping'),
    close: tell('close'),
    violation: (why) => void told.push(['violation', why]),
  });
  // One buffer for all pieces, as with sockets: what a reader keeps it must have copied.
  const shared = Buffer.alloc(Math.max(1, ...sizes));
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    const piece = bytes.subarray(at, at + size);
    piece.copy(shared);
    if (shared.length >= piece.length) reader.push(shared, piece.length);
    else reader.push(piece);
    at += piece.length;
  }
  return told;
}

/** A frame as a server sends it, made by ws. */
function frame(opcode: number, payload: Buffer, fin = true): Buffer {
  const options = { opcode, fin, mask: false, rsv1: false, readOnly: true };
  return Buffer.concat(
    (Sender as unknown as { frame(data: Buffer, options: object): Buffer[] }).frame(payload, options),
  );
}

test('messages of every length are read, however the bytes are split', () => {
  const lengths = [0, 1, 125, 126, 640, 65_535, 65_536, 70_000];
  const payloads = lengths.map((length) => Buffer.alloc(length, length % 251));
  const bytes = Buffer.concat(payloads.map((payload) => frame(2, payload)));
  const expected = payloads.map((payload) => ['binary', payload.toString('latin1')]);
  expect(read(bytes)).toEqual(expected);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9_000 }), { maxLength: 30 }), (sizes) => {
      expect(read(bytes, sizes)).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});

// Joined anew with each piece, the longest message would take minutes.
test.each([
  ['one frame in small pieces', 1, 700],
  ['many parts', 20_000, 64 * 1_024],
])(
  'the longest text, in %s, is read at once',
  (_, parts, size) => {
    const payload = Buffer.alloc(maxMessageBytes, 'x');
    const part = Math.ceil(payload.length / parts);
    const frames = Array.from({ length: parts }, (_none, index) =>
      frame(index === 0 ? 1 : 0, payload.subarray(index * part, (index + 1) * part), index === parts - 1),
    );
    const bytes = Buffer.concat(frames);
    const [told, ...others] = read(bytes, Array(Math.floor(bytes.length / size)).fill(size));
    expect([told?.[0], told?.[1].length, others]).toEqual(['text', maxMessageBytes, []]);
  },
  30_000,
);

test('fragments of a text are joined, even around a ping', () => {
  const bytes = Buffer.concat([
    frame(1, Buffer.from('ab'), false),
    frame(9, Buffer.from('!')),
    frame(0, Buffer.from('cd'), false),
    frame(0, Buffer.from('ef')),
  ]);
  expect(read(bytes, [3, 1, 2])).toEqual([
    ['ping', '!'],
    ['text', 'abcdef'],
  ]);
});

test('fragments of audio are passed on one by one', () => {
  const bytes = Buffer.concat([frame(2, Buffer.from('ab'), false), frame(0, Buffer.from('cd'))]);
  expect(read(bytes)).toEqual([
    ['binary', 'ab'],
    ['binary', 'cd'],
  ]);
});

test.each([
  ['a masked frame', [0x82, 0x80, 0, 0, 0, 0], 'a masked frame'],
  ['reserved bits', [0xc2, 0x00], 'a frame with reserved bits set'],
  ['an unknown opcode', [0x83, 0x00], 'the unknown opcode 3'],
  ['a control frame in fragments', [0x09, 0x00], 'a bad control frame'],
  ['a long control frame', [0x89, 126, 0, 200], 'a bad control frame'],
  ['a continuation of nothing', [0x80, 0x00], 'a continuation without a beginning'],
  ['a message within a message', [0x02, 0x00, 0x82, 0x00], 'a message within a message'],
])('%s is a violation, and nothing after it is read', (_, bytes, what) => {
  const told = read(Buffer.concat([Buffer.from(bytes), frame(2, Buffer.from('after'))]));
  expect(told.at(-1)).toEqual(['violation', `The service sent ${what}`]);
  expect(told.map(([, text]) => text)).not.toContain('after');
});

const half = Buffer.alloc(9 * 1024 * 1024, 'x');
test.each([
  ['a frame of a terabyte', Buffer.of(0x82, 127, 0, 0, 1, 0, 0, 0, 0, 0)],
  ['a text in two parts of 9 MiB', Buffer.concat([frame(1, half, false), frame(0, half)])],
])('%s is more than is read', (_, bytes) => {
  const text = 'A message from the service is longer than 16 MiB, which is voicectl’s limit';
  expect(read(bytes)).toEqual([['violation', text]]);
});
