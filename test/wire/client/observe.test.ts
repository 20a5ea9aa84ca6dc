import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../src/kernel/redact.ts';
import { type ObserveOptions, observeStream } from '../../../src/wire/client/observe.ts';
import type { StreamExchange } from '../../../src/wire/exchange.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { setUpServices } from '../../helpers/services.ts';

const services = setUpServices();

async function observe(url: string, options: Partial<ObserveOptions> = {}) {
  const clock = createCountedClock();
  const redactor = createRedactor();
  const signal = new AbortController().signal;
  const stream = await observeStream({ url, clock, redactor, signal, ...options });
  return { stream, clock, redactor };
}

const told = ({ messages }: StreamExchange) =>
  messages.map(({ from, opcode, bytes }) => `${from} ${opcode} ${bytes}`);

describe('a stream that is observed', () => {
  test('is kept message by message, with who sent it, its opcode and its size', async () => {
    const url = await services.ws((peer) => {
      peer.on('message', (data: Buffer, isBinary) => peer.send(data, { binary: isBinary }));
      peer.ping('hey');
    });
    const { stream } = await observe(url);
    stream.sendText('{"a":1}');
    stream.sendBinary(Buffer.alloc(641));
    expect(await stream.until(({ messages }) => messages.length >= 6, 1_000)).toBe(true);
    await stream.close();
    expect(told(stream.exchange()).sort()).toEqual([
      'device binary 641',
      'device pong 3',
      'device text 7',
      'service binary 641',
      'service ping 3',
      'service text 7',
    ]);
    expect(stream.exchange().end).toMatchObject({ by: 'device', code: 1000, breakdown: undefined });
  });

  test('keeps the upgrade as it was sent and answered', async () => {
    const url = await services.ws(() => {});
    const { stream } = await observe(url, { headers: { Origin: 'http://page.test' } });
    const { request, answer } = stream.exchange().upgrade;
    expect(answer?.status).toBe(101);
    expect(answer?.headers.map(([name]) => name.toLowerCase())).toContain('sec-websocket-accept');
    expect(request.headers).toContainEqual(['origin', 'http://page.test']);
    await stream.cut();
    expect(stream.exchange().end).toMatchObject({ code: 1006 });
  });

  test('that is refused is an observation, and sending into it does nothing', async () => {
    const { baseUrl } = await services.http((response) => response.writeHead(403).end('{"why":"no"}'));
    const { stream } = await observe(baseUrl.replace('http', 'ws'));
    stream.sendText('into the void');
    expect(stream.isOpen).toBe(false);
    expect(await stream.until(() => false, 1_000)).toBe(false);
    const { upgrade, messages, end } = stream.exchange();
    expect(upgrade).toMatchObject({
      answer: { status: 403, body: '{"why":"no"}' },
      breakdown: { code: 'stream-refused' },
    });
    expect([messages, end]).toEqual([[], undefined]);
  });

  test('where nobody listens says why', async () => {
    const { stream } = await observe('ws://127.0.0.1:1');
    expect(stream.exchange().upgrade).toMatchObject({
      answer: undefined,
      breakdown: { code: 'connect-failed' },
    });
  });

  test('keeps neither the token that it presents nor what the service repeats of it, in any spelling', async () => {
    const token = `eyJhbGciOiJub25lIn0.${Buffer.from('{"sub":"d"}').toString('base64url')}.c2lnbmF0dXJl`;
    const spelled = `\\u0065${token.slice(1)}`;
    const url = await services.ws((peer) => {
      peer.once('message', () => {
        peer.send(`{"you sent":"${spelled}"}`);
        peer.close(4000, `no ${token.slice(0, 60)}`);
      });
    });
    const { stream } = await observe(url);
    stream.present(token, 'binary');
    await stream.until(() => false, 1_000);
    const kept = JSON.stringify(stream.exchange());
    expect(kept).not.toContain('c2lnbmF0dXJl');
    const [presented, answer] = stream.exchange().messages;
    expect(presented).toMatchObject({
      opcode: 'binary',
      token: { claims: { sub: 'd' }, bytes: token.length },
    });
    expect(answer).toMatchObject({ text: '{"you sent":"[redacted]"}' });
    expect(stream.exchange().end).toMatchObject({ by: 'service', code: 4000 });
  });

  test('does not wait longer than it is asked to', async () => {
    const url = await services.ws(() => {});
    const { stream, clock } = await observe(url);
    const waiting = stream.until(() => false, 5_000);
    clock.advance(5_000);
    expect(await waiting).toBe(false);
    expect(stream.isOpen).toBe(true);
    await stream.cut();
  });
});
