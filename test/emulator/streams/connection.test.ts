import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { hasten } from '../../helpers/hasten.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

const startEmulator = setUpEmulators();

/** A client frame with a mask of zeros. */
function frame(opcode: number, payload: Buffer, { fin = true, masked = true, rsv = 0 } = {}): Buffer {
  const head = [(fin ? 0x80 : 0) | (rsv << 4) | opcode];
  if (payload.length < 126) head.push((masked ? 0x80 : 0) | payload.length);
  else head.push((masked ? 0x80 : 0) | 126, payload.length >> 8, payload.length & 255);
  return Buffer.concat([Buffer.from(head), Buffer.alloc(masked ? 4 : 0), payload]);
}
const text = (content: string) => frame(1, Buffer.from(content));

/** A peer below any WebSocket library: it writes what a test says, and reads only when told to. */
async function rawPeer(port: number): Promise<{ socket: Socket; ended: Promise<Buffer> }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('error', () => {});
  const ended = new Promise<Buffer>((resolve) => {
    socket.once('end', () => resolve(Buffer.concat(chunks)));
    socket.once('close', () => resolve(Buffer.concat(chunks)));
  });
  await new Promise<void>((resolve) => {
    socket.write(
      [
        'GET /voice-stream HTTP/1.1',
        'Host: 127.0.0.1',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        '\r\n',
      ].join('\r\n'),
    );
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      resolve();
    });
  });
  return { socket, ended };
}

/** Writes as fast as it is taken, until it is taken no more. */
function floodWith(write: (taken: (error?: Error | null) => void) => void) {
  const next = () => write((error) => error ?? setImmediate(next));
  next();
}

describe('a message', () => {
  test('of 1 MiB is accepted, and a longer one closes with 1009', async () => {
    const emulator = await startEmulator({ reply: 'silence' });
    const client = await emulator.connect();
    await client.send(Buffer.alloc(1024 * 1024));
    client.socket.send(Buffer.alloc(1024 * 1024 + 1));
    expect(await client.closed).toMatchObject({ code: 1009 });
    // What was sent, and that this side sent it: the answer of the device is no longer read.
    expect(await emulator.event('stream-closed')).toMatchObject({
      cause: 'protocol-error',
      code: 1009,
      sentCode: 1009,
      framesIn: 1,
      reason: expect.stringMatching(/payload/i),
    });
  });

  test('is bounded by the dialect', async () => {
    const emulator = await startEmulator({ reply: 'echo', dialect: { stream: { maxMessageBytes: 1_000 } } });
    const client = await emulator.connect();
    await client.send(Buffer.alloc(1_000));
    await client.until(() => client.audio.length === 1_000);
    client.socket.send(Buffer.alloc(1_001));
    expect(await client.closed).toMatchObject({ code: 1009 });
  });

  test.each([
    [256, false],
    [257, true],
  ])('in %i fragments closes the stream with 1008: %s', async (fragments, closes) => {
    const emulator = await startEmulator({ reply: 'echo' });
    const client = await emulator.connect();
    for (let i = 1; i <= fragments; i += 1) {
      client.socket.send(Buffer.alloc(2), { binary: true, fin: i === fragments });
    }
    if (closes) expect(await client.closed).toMatchObject({ code: 1008 });
    else await client.until(() => client.audio.length === 512);
  });
});

test.each([
  ['is not masked', frame(2, Buffer.alloc(2), { masked: false })],
  ['has a reserved bit', frame(2, Buffer.alloc(2), { rsv: 4 })],
  ['has an unknown opcode', frame(3, Buffer.alloc(2))],
  ['goes on with nothing', frame(0, Buffer.alloc(2))],
  ['is a ping in fragments', frame(9, Buffer.alloc(2), { fin: false })],
  ['is a ping of 126 bytes', frame(9, Buffer.alloc(126))],
  ['is text that is not UTF-8', frame(1, Buffer.of(0xff, 0xfe))],
  ['is a close of one byte', frame(8, Buffer.of(3))],
  ['is a close with a code that may not be sent', frame(8, Buffer.of(0x03, 0xed))],
  ['announces 2^63 bytes', Buffer.from([0x82, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0])],
])('a frame that %s ends its stream and no other', async (_name, bytes) => {
  const emulator = await startEmulator({ reply: 'echo' });
  const other = await emulator.connect('other');
  const peer = await rawPeer(emulator.port);
  peer.socket.write(text(await emulator.token('d')));
  const { stream } = await emulator.event('stream-authorised', ({ device }) => device === 'd');
  peer.socket.write(bytes);
  await peer.ended;
  peer.socket.destroy();
  await emulator.event('stream-closed', (event) => event.stream === stream);
  await other.send(Buffer.alloc(640));
  await other.until(() => other.audio.length === 640);
});

test.each([
  ['close with a reason', frame(8, Buffer.of(0x03, 0xe8, 0xff, 0xfe, 0x1b)), 'Its close reason is not UTF-8'],
  ['text', frame(1, Buffer.of(0xff, 0xfe)), 'Invalid WebSocket frame: invalid UTF-8 sequence'],
])('a %s that is not UTF-8 fails the connection with 1007, in one event', async (_what, bytes, reason) => {
  const emulator = await startEmulator();
  const peer = await rawPeer(emulator.port);
  peer.socket.write(text(await emulator.token('d')));
  const { stream } = await emulator.event('stream-authorised');
  const before = emulator.events.length;
  peer.socket.write(bytes);
  expect((await peer.ended).subarray(-4)).toEqual(Buffer.of(0x88, 2, 0x03, 0xef));
  peer.socket.destroy();
  await emulator.event('stream-closed');
  expect(emulator.events.slice(before)).toMatchObject([
    { type: 'stream-closed', stream, cause: 'protocol-error', reason },
  ]);
});

test('random bytes instead of frames crash nothing', async () => {
  const emulator = await startEmulator({ reply: 'echo' });
  let state = 1;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state >> 8;
  };
  const peers = await Promise.all(Array.from({ length: 50 }, () => rawPeer(emulator.port)));
  for (const { socket } of peers) {
    socket.end(Buffer.from(Array.from({ length: 2_000 }, () => random() & 255)));
  }
  await Promise.all(peers.map(({ ended }) => ended));
  for (const { socket } of peers) socket.destroy();
  await emulator.until(() => emulator.events.filter(({ type }) => type === 'stream-closed').length === 50);
  await emulator.connect();
});

test('a flood of pings crashes nothing, and other streams continue', async () => {
  const emulator = await startEmulator({ reply: 'echo' });
  const other = await emulator.connect('other');
  const peer = await rawPeer(emulator.port);
  peer.socket.write(text(await emulator.token('d')));
  const { stream } = await emulator.event('stream-authorised', ({ device }) => device === 'd');
  peer.socket.pause();
  const pings = Buffer.concat(Array.from({ length: 5_000 }, () => frame(9, Buffer.alloc(125, 1))));
  const closed = emulator.event('stream-closed', (event) => event.stream === stream);
  floodWith((taken) => peer.socket.write(pings, taken));
  await closed;
  peer.socket.destroy();
  await other.send(Buffer.alloc(640));
  await other.until(() => other.audio.length === 640);
});

test('a device that does not read is closed with 1013 and cut, and other streams continue', async () => {
  const emulator = await startEmulator({ reply: 'echo' });
  const other = await emulator.connect('other');
  const slow = await emulator.connect('slow');
  const { stream } = await emulator.event('stream-authorised', ({ device }) => device === 'slow');
  slow.socket.pause();
  const closed = emulator.event('stream-closed', (event) => event.stream === stream);
  const pcm = Buffer.alloc(64 * 1024);
  floodWith((taken) => slow.socket.send(pcm, taken));
  expect(await closed).toMatchObject({ cause: 'slowReader', device: 'slow' });
  await other.send(Buffer.alloc(640));
  await other.until(() => other.audio.length === 640);
});

describe('a peer that does not end its connection', () => {
  test('after its own close is cut, and frees its slot before that', async () => {
    const emulator = await startEmulator({ reply: 'silence', maxConnections: 1 });
    const peer = await rawPeer(emulator.port);
    peer.socket.write(text(await emulator.token('d')));
    await emulator.event('stream-authorised');
    const answered = once(peer.socket, 'data');
    peer.socket.write(frame(8, Buffer.of(0x03, 0xe8)));
    await answered;
    await emulator.connect('d');
    expect(emulator.events.some(({ type }) => type === 'stream-closed')).toBe(false);
    expect(await emulator.event('stream-closed')).toMatchObject({ code: 1000 });
    peer.socket.destroy();
  });

  test('after a close by the service is cut, and frees its slot before that', async () => {
    const emulator = await startEmulator({
      reply: 'silence',
      maxConnections: 1,
      dialect: { stream: { textAfterToken: 'close' } },
    });
    const peer = await rawPeer(emulator.port);
    peer.socket.write(text(await emulator.token('d')));
    await emulator.event('stream-authorised');
    peer.socket.write(text('hello'));
    await emulator.event('text-received');
    await emulator.connect('d');
    expect(await emulator.event('stream-closed')).toMatchObject({ code: 1006, cause: 'unexpectedText' });
    peer.socket.destroy();
  });
});

test('a device that is sent more at once than may wait unread does not count as one that does not read', async () => {
  const emulator = await startEmulator({ reply: 'echo' });
  const client = await emulator.connect('d1');
  const message = Buffer.alloc(256 * 1024, 1);
  for (let i = 0; i < 8; i += 1) client.socket.send(message);
  await client.until(() => client.audio.length === 8 * message.length);
});

/** An emulator that says what the test says, to a device on a network of this profile. */
async function startTalking(profile: string) {
  const clock = createManualClock();
  let say = (_pcm: Buffer) => {};
  const emulator = await startEmulator({
    clock,
    faults: [`network:profile=${profile}`],
    reply: (voice) => {
      say = voice.send;
      return { hear() {} };
    },
  });
  const client = await hasten(clock, emulator.connect());
  return { clock, emulator, client, say };
}

test.each([
  ['in a stall', 'stall:for=60s'],
  ['while its network is offline', 'network:profile=offline'],
])('a device gets what was sent %s afterwards, up to 1 MiB, and is not closed', async (_when, fault) => {
  const { clock, emulator, client, say } = await startTalking('none');
  const { id } = emulator.control.faults.add(fault);
  const blocks = Array.from({ length: 32 }, (_, number) => Buffer.alloc(64 * 1024, number));
  for (const block of blocks) say(block);
  clock.advance(60_000);
  emulator.control.faults.clear(id);
  // What was held back has not left yet.
  say(Buffer.alloc(640, 100));
  const held = Buffer.concat(blocks.slice(0, 16));
  const hears = async (check: () => boolean) => {
    await hasten(clock, Promise.race([client.until(check), client.closed]));
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  };
  await hears(() => client.audio.length >= held.length);
  expect(client.audio.subarray(0, held.length).equals(held)).toBe(true);
  await hears(() => {
    say(Buffer.alloc(640, 101));
    return client.audio.at(-1) === 101;
  });
});

test('a device on a slow network that was offline is not closed while it reads what waited, and more is said', async () => {
  const { clock, emulator, client, say } = await startTalking('slow-3g');
  const frame = Buffer.alloc(640, 1);
  const speak = async (ms: number) => {
    for (let t = 0; t < ms; t += 20) {
      say(frame);
      clock.advance(20);
      await new Promise(setImmediate);
    }
  };
  const { id } = emulator.control.faults.add('network:profile=offline');
  await speak(40_000);
  emulator.control.faults.clear(id);
  const before = client.audio.length;
  await speak(60_000);
  expect(emulator.events.filter(({ type }) => type === 'stream-closed')).toEqual([]);
  expect(client.audio.length - before).toBeGreaterThan(1024 * 1024);
});

test('a device that stops reading while its network is offline does not count as one that reads', async () => {
  const { clock, emulator, client, say } = await startTalking('none');
  const { id } = emulator.control.faults.add('network:profile=offline');
  for (let count = 0; count < 32; count += 1) say(Buffer.alloc(64 * 1024));
  client.socket.pause();
  emulator.control.faults.clear(id);
  const closed = emulator.event('stream-closed');
  expect(await hasten(clock, closed)).toMatchObject({ cause: 'half-open' });
});

describe('a close from this side', () => {
  test.each([
    ['a code that nobody may send', 2_000, ''],
    ['a reason that is too long', 1_000, 'x'.repeat(124)],
  ])('with %s is refused, and the stream continues', async (_, code, reason) => {
    const emulator = await startEmulator({ reply: 'echo' });
    const client = await emulator.connect();
    expect(() => emulator.control.close({}, code, reason)).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
    client.socket.send(Buffer.alloc(640, 1));
    await client.until(() => client.heard.some((item) => Buffer.isBuffer(item)));
    await emulator.close();
    expect(await client.closed).toMatchObject({ code: 1001 });
  });

  test('without a close frame comes after all that was sent, even to a device that reads late', async () => {
    const emulator = await startEmulator({ reply: 'silence' });
    const client = await emulator.connect();
    client.socket.pause();
    const long = 'x'.repeat(8_000_000);
    emulator.control.send({}, { json: { type: 'long', long } });
    emulator.control.close({}, 1006, '');
    client.socket.resume();
    expect(await client.closed).toMatchObject({ code: 1006 });
    expect(JSON.stringify(client.messages)).toContain(long);
  });
});

test('a reply that cannot be made is reported on its stream, which continues like all others', async () => {
  const emulator = await startEmulator({
    scenario: {
      faults: [],
      replyModeFor: () => (voice) => {
        if (voice.device === 'bad') throw new Error('no such voice');
        return { hear: voice.send };
      },
    },
  });
  const good = await emulator.connect('good');
  const bad = await emulator.connect('bad');
  await bad.until(() => bad.messages.some((message) => JSON.stringify(message).includes('no such voice')));
  expect(await emulator.event('reply-failed')).toMatchObject({ device: 'bad', why: 'no such voice' });
  await bad.send(Buffer.alloc(640));
  await good.send(Buffer.alloc(640, 1));
  await good.until(() => good.heard.some((item) => Buffer.isBuffer(item)));
  expect(emulator.control.state().streams).toHaveLength(2);
});
