import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { WebSocket } from 'ws';
import { closeCodes } from '../../../src/protocol/close-codes.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { setUpServices, textFrame, upgradeByHand } from '../../helpers/services.ts';
import { setUpVoiceStreams } from '../../helpers/voice-streams.ts';

const open = setUpVoiceStreams();
// After the streams, and so closed before them: a service that is gone keeps no stream waiting for its answer.
const services = setUpServices();

const connected = '{"type":"service_voice_connected"}';

/** A service that confirms the first message, whatever it is, and then does what the test likes. */
function confirming(then: (peer: WebSocket) => void = () => {}): Promise<string> {
  return services.ws((peer) => {
    peer.once('message', () => {
      peer.send(connected);
      then(peer);
    });
  });
}

/** A stream that was confirmed by a service that says nothing more, and the service's end of it. */
async function live() {
  let peer: WebSocket | undefined;
  const wsUrl = await confirming((its) => {
    peer = its;
  });
  const stream = await open(wsUrl);
  await stream.present('t.o.k');
  return { stream, peer: peer! };
}

/** A stream to a service that speaks WebSocket by hand, and its socket. */
async function openRaw(then?: Buffer) {
  let socket: Socket | undefined;
  const { port } = await services.tcp((its) => {
    socket = its;
    upgradeByHand(its, then ? { then } : {});
  });
  const stream = await open(`ws://127.0.0.1:${port}`);
  return { stream, socket: socket! };
}

describe('the token', () => {
  test('is the first message, as text, and is sent only once', async () => {
    const heard: [string, boolean][] = [];
    const wsUrl = await services.ws((peer) => {
      peer.on('message', (data, isBinary) => {
        heard.push([data.toString(), isBinary]);
        if (heard.length === 1) peer.send(connected);
        if (heard.length === 2) peer.close(1000);
      });
    });
    const stream = await open(wsUrl);
    await stream.present('t.o.k');
    stream.sendAudio(Buffer.from('audio'));
    await stream.closed;
    expect(heard).toEqual([
      ['t.o.k', false],
      ['audio', true],
    ]);
  });

  test.each([
    '{"type":"service_voice_connected"}',
    '{"kind":"service_voice_connected","session":{"id":1}}',
    '{"event":"service_voice_connected"}',
    '{"name":"service_voice_connected"}',
    '{"message_type":"service_voice_connected"}',
    '{"type":"status","event":"service_voice_connected"}',
  ])('is confirmed by %s', async (text) => {
    const wsUrl = await services.ws((peer) => peer.once('message', () => peer.send(text)));
    const stream = await open(wsUrl);
    await stream.present('t.o.k');
    expect(stream.messages.map(({ kind }) => kind)).toEqual(['service_voice_connected']);
  });

  test('is not confirmed by other messages', async () => {
    const wsUrl = await services.ws((peer) =>
      peer.once('message', () => {
        for (const text of [
          'hello',
          '{"type":"status"}',
          '"service_voice_connected"',
          '[]',
          '{"type":"service_voice"}',
        ])
          peer.send(text);
        peer.close(4401);
      }),
    );
    const stream = await open(wsUrl);
    await expect(stream.present('t.o.k')).rejects.toMatchObject({ code: 'stream-refused' });
    expect(stream.messages).toHaveLength(5);
  });

  test('is confirmed even by a service that does so in one packet with the upgrade', async () => {
    const { stream } = await openRaw(textFrame(connected));
    await stream.present('t.o.k');
  });

  test('that is not confirmed within 10 s times out', async () => {
    const clock = createCountedClock();
    const wsUrl = await services.ws(() => {});
    const stream = await open(wsUrl, { clock });
    const presenting = stream.present('t.o.k');
    presenting.catch(() => {});
    clock.advance(9_999);
    expect(clock.pending).toContain(10_000);
    clock.advance(1);
    await expect(presenting).rejects.toMatchObject({ code: 'timed-out', exitCode: 7 });
    await stream.close();
    expect(clock.pending).toEqual([]);
  });

  test.each([
    [1000, 'stream-refused', 3],
    [1008, 'stream-refused', 3],
    [4401, 'stream-refused', 3],
    [4429, 'too-many-connections', 5],
    [1001, 'stream-broken', 6],
    [1011, 'stream-broken', 6],
    [1013, 'stream-broken', 6],
  ] as const)('that is answered with close %i fails as %s, exit code %i', async (close, code, exitCode) => {
    const clock = createCountedClock();
    const wsUrl = await services.ws((peer) => peer.once('message', () => peer.close(close, 'because')));
    const stream = await open(wsUrl, { clock });
    await expect(stream.present('t.o.k')).rejects.toMatchObject({ code, exitCode });
    expect(await stream.closed).toEqual({ code: close, reason: 'because' });
    expect(clock.pending).toEqual([]);
  });

  test.each([
    ['a close frame without a code', (peer: WebSocket) => peer.close(), 'stream-refused'],
    ['a cut', (peer: WebSocket) => peer.terminate(), 'stream-broken'],
  ])('that is answered with %s fails', async (_what, end, code) => {
    const wsUrl = await services.ws((peer) => peer.once('message', () => end(peer)));
    await expect((await open(wsUrl)).present('t.o.k')).rejects.toMatchObject({ code });
  });

  test('fails with what the service said before it closed', async () => {
    const wsUrl = await services.ws((peer) =>
      peer.once('message', () => {
        peer.send('{"error":{"code":"TOKEN_EXPIRED","message":"Too old"}}');
        peer.close(1011);
      }),
    );
    const presenting = (await open(wsUrl)).present('t.o.k');
    await expect(presenting).rejects.toMatchObject({
      code: 'stream-refused',
      details: { serviceCode: 'TOKEN_EXPIRED', serviceMessage: 'Too old', closeCode: 1011 },
    });
  });

  const refusal = { error: { code: 'BAD_TOKEN', message: 'no such token' } };

  test.each([
    ['an error', [refusal], 'stream-refused', 'The stream refused the token: BAD_TOKEN: no such token. '],
    ['an error and a status', [refusal, { type: 'status' }], 'stream-refused', 'BAD_TOKEN'],
    [
      'a limit',
      [{ error: { code: 'LIMIT', message: 'too many' } }],
      'too-many-connections',
      'LIMIT: too many',
    ],
    ['a status', [{ type: 'status' }], 'timed-out', 'did not confirm the connection within 10 s'],
  ])('that is answered with %s and nothing more fails after 10 s', async (_what, said, code, message) => {
    const clock = createCountedClock();
    const wsUrl = await services.ws((peer) =>
      peer.once('message', () => {
        for (const one of said) peer.send(JSON.stringify(one));
      }),
    );
    const stream = await open(wsUrl, { clock });
    const presenting = stream.present('t.o.k');
    presenting.catch(() => {});
    await stream.until(() => stream.messages.length === said.length);
    clock.advance(10_000);
    await expect(presenting).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('may be confirmed after an error', async () => {
    const wsUrl = await services.ws((peer) =>
      peer.once('message', () => {
        peer.send(JSON.stringify(refusal));
        peer.send(connected);
      }),
    );
    await (await open(wsUrl)).present('t.o.k');
  });

  test('fails even if the service closed before it was presented', async () => {
    const wsUrl = await services.ws((peer) => peer.close(4429, 'full'));
    const stream = await open(wsUrl);
    await stream.closed;
    await expect(stream.present('t.o.k')).rejects.toMatchObject({ code: 'too-many-connections' });
  });
});

describe('what the service sends', () => {
  test('is heard in order, with audio of any size, odd ones included, even before the confirmation', async () => {
    const sizes = [640, 0, 1, 3, 2, 65_537, 1_048_576, 639];
    const wsUrl = await services.ws((peer) =>
      peer.once('message', () => {
        for (const size of sizes) peer.send(Buffer.alloc(size, size % 251));
        peer.send(connected);
        peer.send(Buffer.from('after'));
      }),
    );
    const stream = await open(wsUrl);
    await stream.present('t.o.k');
    await stream.until(() => stream.audio.length === sizes.length + 1);
    expect(stream.audio.slice(0, -1).map(({ length }) => length)).toEqual(sizes);
    expect(
      stream.audio.every((pcm, i) => i === sizes.length || pcm.every((byte) => byte === sizes[i]! % 251)),
    ).toBe(true);
  });

  test('is joined if it comes in fragments', async () => {
    const { stream, peer } = await live();
    peer.send(Buffer.from('ab'), { fin: false });
    peer.send(Buffer.from('cd'), { fin: true });
    await stream.until(() => stream.audio.length === 1);
    expect(String(stream.audio[0])).toBe('abcd');
  });

  test('may be any text: none of it ends the stream', async () => {
    const { stream, peer } = await live();
    const texts = [
      '',
      '{',
      'null',
      '7',
      '[[]]',
      '{"type":{}}',
      '\u0000',
      `${'['.repeat(50_000)}`,
      '{"__proto__":1}',
    ];
    for (const text of texts) peer.send(text);
    peer.send(Buffer.from('still here'));
    await stream.until(() => stream.audio.length === 1);
    expect(stream.messages).toHaveLength(1 + texts.length);
    expect(stream.messages.slice(1).map(({ category }) => category)).toEqual([
      'malformed',
      'malformed',
      'other',
      'other',
      'other',
      'other',
      'malformed',
      'malformed',
      'other',
    ]);
  });

  test('waits while reading is paused, and is complete afterwards', async () => {
    const { stream, peer } = await live();
    stream.pause();
    // Only a reader that rests makes the service's own buffer grow.
    let sent = 0;
    while (peer.bufferedAmount < 1_048_576 && sent < 1_024) {
      await new Promise<void>((resolve) => {
        peer.send(Buffer.alloc(65_536), () => {});
        setImmediate(resolve);
      });
      sent += 1;
    }
    expect(sent).toBeLessThan(1_024);
    expect(stream.audio.length).toBeLessThan(4);
    stream.resume();
    await stream.until(() => stream.audio.length === sent);
  });
});

describe('a service that breaks the protocol', () => {
  test.each([
    ['an opcode that does not exist', Buffer.of(0x83, 0x00)],
    ['a reserved bit', Buffer.of(0xc1, 0x00)],
    ['a masked frame', Buffer.of(0x81, 0x80, 1, 2, 3, 4)],
    ['text that is not UTF-8', Buffer.of(0x81, 0x01, 0xff)],
    ['a ping in fragments', Buffer.of(0x09, 0x00)],
    ['a continuation of nothing', Buffer.of(0x80, 0x00)],
    ['a close code that must not be sent', Buffer.of(0x88, 0x02, 0x03, 0xed)],
    ['a message that says it has 17 MiB', Buffer.of(0x82, 127, 0, 0, 0, 0, 1, 0x10, 0, 0)],
  ])('by %s ends the stream, and not the program', async (_what, frame) => {
    const { stream, socket } = await openRaw();
    socket.once('data', () => socket.write(textFrame(connected)));
    await stream.present('t.o.k');
    // Its answer is our close frame; a service of manners hangs up then.
    socket.once('data', () => socket.end());
    socket.write(frame);
    expect(stream.breakage(await stream.closed)).toMatchObject({ code: 'protocol-violation', exitCode: 6 });
  });

  test('before the confirmation makes presenting the token fail', async () => {
    const { stream, socket } = await openRaw();
    socket.once('data', () => socket.end(Buffer.of(0x83, 0x00)));
    await expect(stream.present('t.o.k')).rejects.toMatchObject({ code: 'protocol-violation' });
  });

  test('by a message of 17 MiB ends the stream before the message is held', async () => {
    const { stream, peer } = await live();
    peer.on('error', () => {});
    peer.send(Buffer.alloc(17 * 1024 * 1024));
    const close = await stream.closed;
    expect(stream.breakage(close)).toMatchObject({ code: 'protocol-violation' });
    expect(stream.audio).toEqual([]);
  });
});

describe('the end of a stream', () => {
  test.each([
    [1000, undefined],
    [1001, 'stream-broken'],
    [1011, 'stream-broken'],
    [3000, 'stream-broken'],
    [4000, 'stream-broken'],
  ])('by the service with %i is the failure %s', async (code, failure) => {
    const { stream, peer } = await live();
    peer.close(code, 'because');
    const close = await stream.closed;
    expect(close).toEqual({ code, reason: 'because' });
    expect(stream.breakage(close)?.code).toBe(failure);
    expect(stream.clock.pending).toEqual([]);
  });

  test('by the service with a close frame without a code is not a failure', async () => {
    const { stream, peer } = await live();
    peer.close();
    const close = await stream.closed;
    expect(close).toEqual({ code: closeCodes.noStatus, reason: '' });
    expect(stream.breakage(close)).toBeUndefined();
  });

  test('by a cut is a failure', async () => {
    const { stream, peer } = await live();
    peer.terminate();
    expect(stream.breakage(await stream.closed)?.code).toBe('stream-broken');
  });

  const error = '{"type":"error","error":{"code":"MODEL","message":"gone"}}';
  test.each([1000, 1011])('right after an error is reported as that error: %i', async (code) => {
    const { stream, peer } = await live();
    peer.send(error);
    peer.close(code);
    expect(stream.breakage(await stream.closed)).toMatchObject({
      code: 'service-error',
      details: { serviceCode: 'MODEL', serviceMessage: 'gone' },
    });
  });

  test.each([
    ['audio', Buffer.alloc(2)],
    ['a message', '{"type":"status"}'],
  ])('is not blamed on an error after which %s came', async (_what, later) => {
    const { stream, peer } = await live();
    peer.send(error);
    peer.send(later);
    peer.close(1000);
    expect(stream.breakage(await stream.closed)).toBeUndefined();
  });

  test('by us is a close with 1000, and audio that was under way before the answer is still heard', async () => {
    const { stream, peer } = await live();
    let seen: number | undefined;
    peer.on('close', (code) => {
      seen = code;
    });
    peer.send(Buffer.alloc(640));
    expect(await stream.close()).toEqual({ code: 1000, reason: '' });
    expect(stream.audio).toHaveLength(1);
    await expect.poll(() => seen).toBe(1000);
  });

  test('by us while reading is paused gives up the audio that waits, and gets its answer', async () => {
    const { stream, peer } = await live();
    stream.pause();
    for (let i = 0; i < 100; i += 1) peer.send(Buffer.alloc(65_536));
    expect(await stream.close()).toMatchObject({ code: 1000 });
    expect(stream.audio.length).toBeLessThan(4);
  });

  test('by us is the same end, however often it is requested, even if the service was first', async () => {
    const { stream, peer } = await live();
    const closes = await Promise.all([stream.close(), stream.close()]);
    expect(closes).toEqual([closes[0], closes[0]]);
    expect(await stream.close()).toEqual(closes[0]);
    peer.terminate();
    const { stream: other, peer: second } = await live();
    second.close(4000, 'first');
    await other.closed;
    expect(await other.close()).toEqual({ code: 4000, reason: 'first' });
  });

  test('comes by a cut 2 s after a close that the peer does not answer or complete', async () => {
    const [silent, lingering, broken] = await Promise.all([openRaw(), openRaw(), openRaw()]);
    lingering.socket.write(Buffer.of(0x88, 0x02, 0x03, 0xe8));
    broken.socket.write(Buffer.of(0x83, 0x00));
    const closes = [silent.stream.close(), lingering.stream.closed, broken.stream.closed];
    expect((await Promise.all(closes)).map(({ code }) => code)).toEqual([1000, 1000, 1002]);
    for (const { stream } of [silent, lingering, broken]) expect(stream.clock.pending).toEqual([]);
  });

  test('comes sooner after a request to end', async () => {
    const [patient, hurried] = await Promise.all([openRaw(), openRaw()]);
    const hurry = new AbortController();
    const ended: string[] = [];
    const closes = [
      patient.stream.close().then(() => ended.push('patient')),
      hurried.stream.close(hurry.signal).then(() => ended.push('hurried')),
    ];
    hurry.abort();
    await Promise.all(closes);
    expect(ended).toEqual(['hurried', 'patient']);
  });

  test('leaves no socket and no timer', async () => {
    const count = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const before = count();
    const { stream } = await live();
    expect(count()).toBeGreaterThan(before);
    stream.sendAudio(Buffer.alloc(640));
    await stream.drained(0);
    await stream.close();
    expect(stream.clock.pending).toEqual([]);
    await expect.poll(count).toBe(before);
  });

  test('makes sending and waiting do nothing', async () => {
    const { stream } = await live();
    await stream.close();
    stream.sendAudio(Buffer.alloc(640));
    await stream.drained(0);
    stream.pause();
    stream.resume();
    expect(stream.clock.pending).toEqual([]);
  });
});

/** Sends frames one by one, each after the socket has no more than `limit` waiting, until that does not come. */
async function sendUntilStall(limit: number, frameBytes = 32_000) {
  const { stream, socket } = await openRaw();
  socket.pause();
  const counts = { sent: 0, bytes: 0 };
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  onTestFinished(end);
  void stream.closed.then(end);
  const sending = (async () => {
    const frame = Buffer.alloc(frameBytes);
    while (!isOver) {
      await stream.drained(limit);
      stream.sendAudio(frame);
      counts.sent += 1;
      counts.bytes += frame.length;
      if (counts.sent % 32 === 0) await new Promise(setImmediate);
    }
  })();
  sending.catch(() => {});
  let last = -1;
  await expect
    .poll(
      () => {
        const isStill = last === counts.sent;
        last = counts.sent;
        return isStill;
      },
      // Far enough apart that a sender which waits for its turn on a busy machine is not taken for one that stalls.
      { timeout: 20_000, interval: 200 },
    )
    .toBe(true);
  return { stream, socket, counts, sending };
}

describe('a service that does not read', () => {
  test.each([0, 1, 65_536])('stops the sending at %i bytes, and times out after 10 s', async (limit) => {
    const { stream, counts, sending } = await sendUntilStall(limit);
    // What the system's own buffers took, and no more.
    expect(counts.bytes).toBeLessThan(32 * 1024 * 1024);
    stream.clock.advance(9_999);
    stream.clock.advance(1);
    await expect(sending).rejects.toMatchObject({ code: 'timed-out', exitCode: 7 });
    expect(stream.clock.pending).toEqual([15_000]);
  });

  test.each([
    // So little waits here that the socket itself never says that it is full.
    [0, 640],
    [8_000, 640],
    [20_000, 640],
    [0, 32_000],
    [65_536, 32_000],
  ])(
    'is served again once it reads, with a limit of %i bytes and frames of %i',
    async (limit, frameBytes) => {
      const { socket, counts } = await sendUntilStall(limit, frameBytes);
      const before = counts.sent;
      socket.resume();
      await expect.poll(() => counts.sent).toBeGreaterThan(before + 100);
    },
  );

  test('does not delay anything once the stream has ended', async () => {
    const { stream, socket } = await sendUntilStall(0);
    const waiting = stream.drained(0);
    socket.resetAndDestroy();
    await waiting;
    await stream.closed;
    expect(stream.clock.pending).toEqual([]);
  });
});

describe('a service that has vanished', () => {
  test('is noticed by its missing answer to a ping, and the stream is cut', async () => {
    const { stream } = await openRaw();
    stream.clock.advance(15_000);
    stream.clock.advance(15_000);
    const close = await stream.closed;
    expect(close.code).toBe(closeCodes.abnormal);
    expect(stream.breakage(close)).toMatchObject({ code: 'timed-out', exitCode: 7 });
    expect(stream.clock.pending).toEqual([]);
  });
});
