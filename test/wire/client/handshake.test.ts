import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { openVoiceStream } from '../../../src/wire/client/voice-stream.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { setUpServices, upgradeByHand } from '../../helpers/services.ts';
import { setUpVoiceStreams } from '../../helpers/voice-streams.ts';

const open = setUpVoiceStreams();
// After the streams, and so closed before them: a service that is gone keeps no stream waiting for its answer.
const services = setUpServices();

/** A service that answers every upgrade with these bytes. */
async function answering(bytes: string): Promise<string> {
  const { port } = await services.tcp((socket) => socket.once('data', () => socket.end(bytes)));
  return `ws://127.0.0.1:${port}`;
}

const answer = (status: number, body = '', headers = '') =>
  `HTTP/1.1 ${status} Any\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

describe('the request for a stream', () => {
  test.each([
    ['', '/voice-stream'],
    ['/', '/voice-stream'],
    ['/base/', '/base/voice-stream'],
  ])('below "%s" goes to %s', async (base, path) => {
    let url: string | undefined;
    const wsUrl = await services.ws((_peer, request) => {
      url = request.url;
    });
    await open(wsUrl + base);
    expect(url).toBe(path);
  });

  test('offers neither compression nor a sub-protocol, and contains no token', async () => {
    const seen: Record<string, unknown>[] = [];
    const wsUrl = await services.ws((_peer, { headers }) => seen.push(headers), {
      perMessageDeflate: true,
    });
    await open(wsUrl);
    expect(Object.keys(seen[0]!).sort()).toEqual([
      'connection',
      'host',
      'sec-websocket-key',
      'sec-websocket-version',
      'upgrade',
    ]);
  });
});

describe('an upgrade that is refused', () => {
  test.each([
    [200, 'handshake-failed', 4],
    [400, 'handshake-failed', 4],
    [401, 'stream-refused', 3],
    [403, 'stream-refused', 3],
    [404, 'handshake-failed', 4],
    [426, 'handshake-failed', 4],
    [429, 'too-many-connections', 5],
    [500, 'handshake-failed', 4],
    [503, 'handshake-failed', 4],
  ] as const)('with status %i fails as %s, exit code %i', async (status, code, exitCode) => {
    await expect(open(await answering(answer(status)))).rejects.toMatchObject({ code, exitCode });
  });

  test.each([301, 302, 303, 307, 308])('with status %i is not followed', async (status) => {
    const elsewhere = await services.tcp(() => {});
    const wsUrl = await answering(answer(status, '', `Location: ws://127.0.0.1:${elsewhere.port}/\r\n`));
    await expect(open(wsUrl)).rejects.toMatchObject({ code: 'redirected', exitCode: 6 });
    expect(elsewhere.sockets).toHaveLength(0);
  });

  test.each([
    [
      'the specification’s shape',
      '{"error":{"code":"FULL","message":"Come back later"}}',
      'FULL: Come back later',
    ],
    ['HTML', '<h1>No</h1>', 'status 403)'],
    ['over 64 KiB', 'x'.repeat(100_000), 'status 403)'],
  ])('is reported with what its body says: %s', async (_what, body, text) => {
    const opening = open(await answering(answer(403, body)));
    await expect(opening).rejects.toThrow(text);
  });

  test('is a refusal even if its body is cut', async () => {
    const wsUrl = await answering('HTTP/1.1 401 No\r\nContent-Length: 50\r\n\r\n{"er');
    await expect(open(wsUrl)).rejects.toMatchObject({ code: 'stream-refused' });
  });
});

describe('a handshake that fails', () => {
  const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
  test.each([
    ['without the key', `${head}\r\n`, 'handshake-failed'],
    ['with a wrong key', `${head}Sec-WebSocket-Accept: AAAA\r\n\r\n`, 'handshake-failed'],
    ['with no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'handshake-failed'],
    ['with nothing', '', 'connect-failed'],
  ])('answered %s is %s', async (_what, bytes, code) => {
    await expect(open(await answering(bytes))).rejects.toMatchObject({ code, exitCode: 4 });
  });

  test('with a sub-protocol that nobody asked for', async () => {
    const headers = 'Sec-WebSocket-Protocol: x\r\n';
    const { port } = await services.tcp((socket) => upgradeByHand(socket, { headers }));
    await expect(open(`ws://127.0.0.1:${port}`)).rejects.toMatchObject({ code: 'handshake-failed' });
  });

  test('because nobody listens', async () => {
    const opening = open(`ws://127.0.0.1:${await services.unusedPort()}`);
    await expect(opening).rejects.toMatchObject({ code: 'connect-failed', exitCode: 4 });
  });

  test('because the name is unknown', async () => {
    await expect(open('ws://voice.invalid')).rejects.toMatchObject({ code: 'connect-failed', exitCode: 4 });
  });

  test('because the service does not answer times out after 10 s, and is cut', async () => {
    const clock = createCountedClock();
    let connected: (socket: Socket) => void = () => {};
    const connection = new Promise<Socket>((resolve) => {
      connected = resolve;
    });
    const { port } = await services.tcp((socket) => socket.once('data', () => connected(socket)));
    const opening = open(`ws://127.0.0.1:${port}`, { clock });
    opening.catch(() => {});
    const socket = await connection;
    clock.advance(9_999);
    expect([clock.pending, socket.closed]).toEqual([[10_000], false]);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    clock.advance(1);
    await expect(opening).rejects.toMatchObject({ code: 'timed-out', exitCode: 7 });
    await closed;
    expect(clock.pending).toEqual([]);
  });
});

describe('a handshake that is abandoned', () => {
  const reason = new VoicectlError('interrupted', 'Interrupted');
  const nobody = { onAudio() {}, onMessage() {} };

  test('is not begun if the signal was aborted before', async () => {
    const service = await services.tcp(() => {});
    const wsUrl = `ws://127.0.0.1:${service.port}`;
    const opening = openVoiceStream({
      wsUrl,
      clock: createCountedClock(),
      signal: AbortSignal.abort(reason),
      ...nobody,
    });
    await expect(opening).rejects.toBe(reason);
    expect(service.sockets).toHaveLength(0);
  });

  test('rejects with the signal’s reason, and cuts the connection', async () => {
    const clock = createCountedClock();
    const ending = new AbortController();
    let closed: Promise<unknown> = Promise.resolve();
    const { port } = await services.tcp((socket) => {
      closed = new Promise((resolve) => socket.once('close', resolve));
      socket.once('data', () => ending.abort(reason));
    });
    await expect(open(`ws://127.0.0.1:${port}`, { clock, signal: ending.signal })).rejects.toBe(reason);
    await closed;
    expect(clock.pending).toEqual([]);
  });
});
