import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { tokenPath } from '../../src/protocol/paths.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { setUpProxies } from '../helpers/proxies.ts';
import { httpRequest, rawHttp } from '../helpers/raw-http.ts';
import { setUpServices } from '../helpers/services.ts';

const services = setUpServices();
const startProxy = setUpProxies();

/** One request with exactly these headers, and its answer. */
async function send(url: string, headers: string[], body: string | Buffer, method = 'POST') {
  const sent = request(url, { method, agent: false, headers });
  sent.end(body);
  const [answer] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return {
    status: answer.statusCode,
    message: answer.statusMessage,
    headers: answer.rawHeaders as string[],
    body: Buffer.concat(chunks).toString('latin1'),
  };
}

const json = ['Content-Type', 'application/json'];
const encoded = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  'deflate, gzip': (plain: Buffer) => gzipSync(deflateRawSync(plain)),
};
const key = 'sk-canary-4f8e2a';
const body = JSON.stringify({ apiKey: key, deviceId: 'lamp' });

describe('a token request through a proxy', () => {
  test.each([
    [Number.MAX_SAFE_INTEGER, '+275760-09-13T00:00:00.000Z'],
    [4_102_444_800, '2100-01-01T00:00:00.000Z'],
  ])('is granted a token that expires at %s, which the state shows as a date', async (exp, expiresAt) => {
    const token = ['{"alg":"HS256"}', JSON.stringify({ sub: 'lamp', jti: 'j-1', exp }), 'signature']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');
    const service = await services.http((response) => response.end(JSON.stringify({ token })));
    const proxy = await startProxy({ ...service, wsUrl: await services.ws(() => {}) });
    await send(proxy.baseUrl + tokenPath(), [...json, 'Host', new URL(proxy.baseUrl).host], body);
    const shown = () => proxy.control.state().tokens;
    await expect.poll(shown).toEqual([{ jti: 'j-1', device: 'lamp', expiresAt, used: false }]);
  });

  test.each(['/a/../b/./c', '/%2E%2E/x', '/a\\b', '/a{b}"^`<>', '/x?', '/x?a="<>', '//x'])(
    'has the path and query that the device wrote: %s',
    async (path) => {
      const service = await services.http((response) => response.end());
      const seen: (string | undefined)[] = [];
      const wsUrl = await services.ws((_, { url }) => seen.push(url));
      const proxy = await startProxy({ ...service, wsUrl });
      const sent = request(proxy.baseUrl, { path, agent: false });
      sent.end();
      await once(sent, 'response');
      expect(service.requests).toMatchObject([{ url: path }]);
      const device = new WebSocket(`${proxy.wsUrl}/voice-stream`, {
        finishRequest(upgrade: ClientRequest) {
          Object.assign(upgrade, { path: `/voice-stream?${path}` });
          upgrade.end();
        },
      });
      await once(device, 'open');
      expect(seen).toEqual([`/voice-stream?${path}`]);
      device.terminate();
    },
  );

  test('of a browser that asks first is not taken for a refusal', async () => {
    await using emulator = await createEmulator();
    const proxy = await startProxy(emulator);
    const headers = { Origin: 'http://localhost:5173', 'Access-Control-Request-Method': 'POST' };
    const answer = await fetch(proxy.baseUrl + tokenPath(), { method: 'OPTIONS', headers });
    expect(answer.status).toBe(204);
    expect(proxy.events.filter(({ level }) => level !== undefined)).toEqual([]);
  });

  test('reaches the target byte for byte, and the answer reaches the device', async () => {
    const odd = '\u00e9 {"apiKey" : "x",  "deviceId":"d"}\r\n ';
    const service = await services.http((response) => {
      response.sendDate = false;
      response.writeHead(207, 'Odd', ['Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'X-Thing', 'yes']);
      response.end('caf\u00e9 \u0000');
    });
    const proxy = await startProxy(service);
    const { host } = new URL(proxy.baseUrl);
    const own = ['Host', host, 'X-One', '1', 'x-one', '2', 'Connection', 'close, X-Hop', 'X-Hop', 'no'];
    const length = ['Content-Length', String(Buffer.byteLength(odd))];
    const got = await send(`${proxy.baseUrl}/some/path?q=%20a`, [...own, ...length], odd);
    const [seen] = service.requests;
    expect(seen).toMatchObject({ method: 'POST', url: '/some/path?q=%20a', body: odd });
    expect(seen?.headers).toMatchObject({ host: new URL(service.baseUrl).host, 'x-one': '1, 2' });
    expect(seen?.headers).not.toHaveProperty('x-hop');
    expect(got).toMatchObject({ status: 207, message: 'Odd' });
    expect(got.headers).toEqual(
      expect.arrayContaining(['Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'X-Thing', 'yes']),
    );
    expect(Buffer.from(got.body, 'latin1').toString()).toBe('caf\u00e9 \u0000');
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])(
    'without a body announces none to the target: %s',
    async (method) => {
      const service = await services.http((response) => response.end('ok'));
      const proxy = await startProxy(service);
      const { host } = new URL(proxy.baseUrl);
      await rawHttp(proxy.port, httpRequest([`${method} /x HTTP/1.1`, `Host: ${host}`, 'Connection: close']));
      const [seen] = service.requests;
      expect(seen).toMatchObject({ method, body: '' });
      expect(seen?.headers).not.toHaveProperty('transfer-encoding');
      expect(seen?.headers['content-length'] ?? '0').toBe('0');
    },
  );

  test.each(Object.entries(encoded))(
    'is judged by its content where it is sent as %s',
    async (name, encode) => {
      await using emulator = await createEmulator();
      const service = await services.http(async (response) => {
        const asked = await send(
          `${emulator.baseUrl}${tokenPath()}`,
          [...json, 'Host', new URL(emulator.baseUrl).host],
          body,
        );
        const headers = asked.headers.flatMap((_, at, all) =>
          at % 2 === 1 || /length|connection|transfer|keep/i.test(all[at] ?? '') ? [] : all.slice(at, at + 2),
        );
        response.writeHead(200, [...headers, 'Content-Encoding', name]).end(encode(Buffer.from(asked.body)));
      });
      const proxy = await startProxy(service);
      const got = await send(
        `${proxy.baseUrl}${tokenPath()}`,
        [...json, 'Host', new URL(proxy.baseUrl).host, 'Content-Encoding', name],
        encode(Buffer.from(body)),
      );
      expect(got.status).toBe(200);
      await expect
        .poll(() => proxy.events.filter(({ type }) => type === 'token-issued'))
        .toMatchObject([{ device: 'lamp' }]);
      expect(proxy.events.filter(({ type }) => type === 'violation')).toEqual([]);
    },
  );

  test('passes a redirect on, and does not follow it', async () => {
    const service = await services.http((response) => {
      response.writeHead(307, { Location: '/elsewhere' }).end();
    });
    const proxy = await startProxy(service);
    const { host } = new URL(proxy.baseUrl);
    const got = await send(`${proxy.baseUrl}${tokenPath()}`, ['Host', host, 'Content-Length', '2'], '{}');
    expect(got.status).toBe(307);
    expect(got.headers).toEqual(expect.arrayContaining(['Location', '/elsewhere']));
    expect(service.requests).toHaveLength(1);
  });

  test('is answered with 503 within a second if nobody listens, and an event has the reason', async () => {
    const port = await services.unusedPort();
    const proxy = await startProxy({ baseUrl: `http://127.0.0.1:${port}` });
    const answer = await fetch(`${proxy.baseUrl}${tokenPath()}`, { method: 'POST', body });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
    const refused = proxy.events.find(({ type }) => type === 'request-refused');
    expect(refused).toMatchObject({
      from: 'service',
      status: 503,
      device: 'lamp',
      why: expect.stringContaining('connection refused'),
    });
  });

  test('is answered with 503 if the target does not answer in time', async () => {
    const { port } = await services.tcp(() => {});
    const proxy = await startProxy({ baseUrl: `http://127.0.0.1:${port}` }, { answerMs: 50 });
    const answer = await fetch(`${proxy.baseUrl}${tokenPath()}`, { method: 'POST', body });
    expect(answer.status).toBe(503);
    const refused = proxy.events.find(({ type }) => type === 'request-refused');
    expect(refused).toMatchObject({ why: expect.stringContaining('did not answer within 0.05 s') });
  });

  test('is answered with 503 if the target switches the protocol, which is held against no side', async () => {
    const { port } = await services.tcp((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
      ),
    );
    const proxy = await startProxy({ baseUrl: `http://127.0.0.1:${port}` });
    const answer = await fetch(`${proxy.baseUrl}${tokenPath()}`, { method: 'POST', body });
    expect(answer.status).toBe(503);
    const refused = proxy.events.find(({ type }) => type === 'request-refused');
    expect(refused).toMatchObject({
      why: expect.stringContaining('101 to a request that is not an upgrade'),
    });
    expect(proxy.judged()).toEqual({ violations: 0, remarks: 0 });
  });

  test('is cut off where the answer of the target breaks off', async () => {
    const { port } = await services.tcp((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"tok'));
    });
    const proxy = await startProxy({ baseUrl: `http://127.0.0.1:${port}` });
    const answer = await fetch(`${proxy.baseUrl}${tokenPath()}`, { method: 'POST', body });
    await expect(answer.text()).rejects.toThrow();
    await expect
      .poll(() => proxy.events.find(({ type }) => type === 'request-refused'))
      .toMatchObject({ from: 'service', status: 200, why: 'The target’s response broke off' });
  });

  test.each([
    ['a token', 200, '{"token":"', []],
    [
      'a refusal',
      401,
      '{"error":',
      [{ status: 401, why: 'The device disconnected before the end of the response' }],
    ],
  ])(
    'is not held against the service if the device hangs up in the middle of %s',
    async (_, status, beginning, refusals) => {
      const { baseUrl } = await services.http((response) => {
        response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': 100 });
        response.write(beginning);
      });
      const proxy = await startProxy({ baseUrl });
      const sent = request(proxy.baseUrl + tokenPath(), { method: 'POST', agent: false });
      sent.end(body);
      const [answer] = await once(sent, 'response');
      await once(answer, 'data');
      answer.on('error', () => {});
      sent.destroy();
      const violations = () => proxy.events.filter((event) => event.type === 'violation');
      // The device sent no Content-Type.
      await expect.poll(violations).toMatchObject([{ from: 'device', rule: 'D1' }]);
      expect(proxy.events.filter(({ type }) => type === 'request-refused')).toMatchObject(refusals);
    },
  );

  test('leaves neither key nor token in any event', async () => {
    await using emulator = await createEmulator();
    const proxy = await startProxy(emulator);
    const answer = await fetch(`${proxy.baseUrl}${tokenPath()}`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    const { token } = (await answer.json()) as { token: string };
    const device = new WebSocket(`${proxy.wsUrl}/voice-stream`);
    await once(device, 'open');
    device.send(token);
    await once(device, 'message');
    device.send(`${key} ${token}`);
    await once(device, 'message');
    device.close(1000, key);
    await expect
      .poll(() => proxy.events.some(({ type }) => type === 'stream-closed'), { timeout: 10_000 })
      .toBe(true);
    const told = JSON.stringify([proxy.events, proxy.control.state()]);
    expect(told).toContain('token-issued');
    expect(told).not.toContain(key);
    expect(told).not.toContain(token);
    expect(told).not.toContain(token.split('.')[2]);
  });
});

describe('a proxy serves one target and its own devices', () => {
  test.each([
    ['CONNECT example.org:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', 405],
    ['GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n', 403],
    ['GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n', 403],
    ['GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\n\r\n', 403],
    [
      'GET /voice-stream HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      403,
    ],
  ])('answers %j with %i, and sends nothing to the target', async (head, status) => {
    const service = await services.http((response) => response.end());
    const proxy = await startProxy(service);
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write(head);
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toContain(`HTTP/1.1 ${status} `);
    expect(service.requests).toEqual([]);
  });

  test.each([
    [{ host: '0.0.0.0' }, 'host-exposed'],
    [{ target: { baseUrl: 'http://service.example', wsUrl: 'ws://service.example' } }, 'insecure-target'],
    [{ target: { baseUrl: 'https://service.example', wsUrl: 'ws://service.example' } }, 'insecure-target'],
    [{ target: { baseUrl: 'http://service.example', wsUrl: 'wss://service.example' } }, 'insecure-target'],
  ])('refuses to start with %j: %s', async (options, code) => {
    const target = { baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' };
    await expect(createProxy({ target, ...options })).rejects.toMatchObject({ code });
  });
});
