import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { createCollector } from '../../../src/conformance/drill/stage.ts';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { createRedactor } from '../../../src/kernel/redact.ts';
import { type ConnectOptions, connect } from '../../../src/wire/client/connect.ts';
import type { StreamExchange } from '../../../src/wire/exchange.ts';
import { joinTaps } from '../../../src/wire/tap.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { setUpServices } from '../../helpers/services.ts';
import { createWatch } from '../../helpers/watch.ts';

const services = setUpServices();

/** A connection whose collector keeps all that passes. */
async function open(url: string, options: Partial<ConnectOptions> = {}) {
  const collector = createCollector();
  const watch = createWatch();
  const tap = joinTaps(collector.tap, { message: watch.changed, closed: watch.changed });
  const connection = await connect({
    ...{ url, tap, clock: createCountedClock(), redactor: createRedactor() },
    signal: new AbortController().signal,
    onText() {},
    onBinary() {},
    ...options,
  }).catch((thrown: VoicectlError) => thrown);
  const exchange = () => collector.stream()!;
  const until = (holds: (exchange: StreamExchange) => boolean) => watch.until(() => holds(exchange()));
  if (connection instanceof VoicectlError) return { failure: connection, exchange, until };
  return { connection, exchange, until };
}

const told = ({ messages }: StreamExchange) =>
  messages.map(({ from, opcode, bytes }) => `${from} ${opcode} ${bytes}`);

describe('the tap of a connection', () => {
  test('gets the sender, the opcode and the size of each message', async () => {
    const url = await services.ws((peer) => {
      peer.on('message', (data: Buffer, isBinary) => peer.send(data, { binary: isBinary }));
      peer.ping('hey');
    });
    const { connection, exchange, until } = await open(url);
    connection!.sendText('{"a":1}');
    connection!.sendBinary(Buffer.alloc(641));
    await until(({ messages }) => messages.length >= 6);
    await connection!.close();
    expect(told(exchange()).sort()).toEqual([
      'device binary 641',
      'device pong 3',
      'device text 7',
      'service binary 641',
      'service ping 3',
      'service text 7',
    ]);
    expect(exchange().end).toMatchObject({ by: 'device', code: 1000, breakdown: undefined });
  });

  test('gets the code that the device closed with, and beside it another one of the answer', async () => {
    const url = await services.ws((peer) => {
      // ws answers with the same code.
      peer.close = () => {};
      const { _receiver: receiver } = peer as unknown as { _receiver: NodeJS.EventEmitter };
      receiver.prependListener('conclude', () => Object.getPrototypeOf(peer).close.call(peer, 1011, 'late'));
    });
    const { connection, exchange } = await open(url);
    await connection!.close();
    const answer = { code: 1011, reason: 'late' };
    expect(exchange().end).toMatchObject({ by: 'device', code: 1000, reason: '', answer });
  });

  test.each(['device', 'service'] as const)(
    'gets the time at which the %s closed, even if the connection ends later, and nothing that is dropped after it',
    async (by) => {
      let peer: WebSocket | undefined;
      const url = await services.ws((socket) => {
        peer = socket.on('message', () => {
          // The answer to the close is not read until the test says so.
          socket.pause();
          if (by === 'service') socket.close(4001);
        });
      });
      const clock = createCountedClock();
      const { connection, exchange } = await open(url, { clock });
      const { _receiver: receiver } = connection!.socket as unknown as { _receiver: NodeJS.EventEmitter };
      const concluded = once(receiver, 'conclude');
      clock.advance(1_000);
      connection!.sendText('{}');
      await expect.poll(() => peer?.isPaused).toBe(true);
      if (by === 'device') void connection!.close();
      else await concluded;
      const closedAt = clock.now();
      // These are not sent any more.
      connection!.sendText('{}');
      connection!.sendBinary(Buffer.alloc(640));
      clock.advance(1_500);
      peer?.resume();
      await connection!.closed;
      expect(exchange().end).toMatchObject({ by, at: closedAt });
      expect(told(exchange())).toEqual(['device text 2']);
    },
  );

  test('gets the code that the device closed with, even if nobody answers', async () => {
    const url = await services.ws((peer) => peer.pause());
    const { connection, exchange } = await open(url);
    await connection!.close();
    const answer = { code: 1006, reason: '' };
    expect(exchange().end).toMatchObject({ by: 'device', code: 1000, reason: '', answer });
  });

  test('gets the code with which the device closes because of what it receives, and its limit', async () => {
    const url = await services.ws((peer) => peer.on('error', () => {}).send(Buffer.alloc(17 * 1024 * 1024)));
    const { connection, exchange } = await open(url);
    await connection!.closed;
    expect(exchange().end).toMatchObject({
      by: 'device',
      code: 1009,
      breakdown: { message: 'A message from the service is longer than 16 MiB, which is voicectl’s limit' },
    });
  });

  test('learns that the device gave up answering pings', async () => {
    const url = await services.ws((peer) => {
      for (let ping = 0; ping < 2_000; ping += 1) peer.ping('hey');
    });
    const { connection, exchange } = await open(url);
    await connection!.closed;
    expect(exchange().end).toMatchObject({ by: 'device', code: 1006, breakdown: { code: 'stream-broken' } });
    expect(connection!.failure?.message).toMatch(/more than 100 pings .* voicectl’s limit/);
  });

  test('gets the upgrade as it was sent and answered', async () => {
    const url = await services.ws(() => {});
    const { connection, exchange } = await open(url, { headers: { Origin: 'http://page.test' } });
    const { request, answer } = exchange().upgrade;
    expect(answer?.status).toBe(101);
    expect(answer?.headers.map(([name]) => name.toLowerCase())).toContain('sec-websocket-accept');
    expect(request.headers).toContainEqual(['origin', 'http://page.test']);
    connection!.cut();
    await connection!.closed;
    expect(exchange().end).toMatchObject({ code: 1006 });
  });

  test('gets an upgrade that is refused, with the answer', async () => {
    const { baseUrl } = await services.http((response) => response.writeHead(403).end('{"why":"no"}'));
    const { failure, exchange } = await open(baseUrl.replace('http', 'ws'));
    expect(failure?.code).toBe('stream-refused');
    const { upgrade, messages, end } = exchange();
    expect(upgrade).toMatchObject({
      answer: { status: 403, body: '{"why":"no"}' },
      breakdown: { code: 'stream-refused' },
    });
    expect([messages, end]).toEqual([[], undefined]);
  });

  test('learns why nobody answered', async () => {
    const { exchange } = await open('ws://127.0.0.1:1');
    expect(exchange().upgrade).toMatchObject({
      answer: undefined,
      breakdown: { code: 'connect-failed' },
    });
  });

  test('gets neither the token nor what the service repeats of it, in any spelling', async () => {
    const token = `eyJhbGciOiJub25lIn0.${Buffer.from('{"sub":"d"}').toString('base64url')}.c2lnbmF0dXJl`;
    const spelled = `\\u0065${token.slice(1)}`;
    const url = await services.ws((peer) => {
      peer.once('message', () => {
        peer.send(`{"you sent":"${spelled}"}`);
        peer.close(4000, `no ${token.slice(0, 60)}`);
      });
    });
    const { connection, exchange, until } = await open(url);
    connection!.present(token, 'binary');
    await until(({ end }) => end !== undefined);
    expect(JSON.stringify(exchange())).not.toContain('c2lnbmF0dXJl');
    const [presented, answer] = exchange().messages;
    const kept = { opcode: 'binary', token: { claims: { sub: 'd' } }, bytes: token.length };
    expect(presented).toMatchObject(kept);
    expect(answer).toMatchObject({ text: '{"you sent":"[redacted]"}' });
    expect(exchange().end).toMatchObject({ by: 'service', code: 4000 });
  });
});
