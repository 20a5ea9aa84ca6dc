import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createPage } from '../../../src/page/server/create-page.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { setUpProxies } from '../../helpers/proxies.ts';
import { httpRequest, rawHttp } from '../../helpers/raw-http.ts';
import { openStream } from '../../helpers/stream-client.ts';

const startEmulator = setUpEmulators();
const startProxy = setUpProxies();

const facts = { command: 'serve' } as never;
const services = {
  emulator: () => startEmulator(),
  proxy: async () => startProxy(await startEmulator()),
};
const upgradeLines = [
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];
const close = 'Connection: close';

describe.each(['emulator', 'proxy'] as const)('what never reaches the paths of the %s', (kind) => {
  test.each([
    ['an upgrade over HTTP/1.0', 400, ['GET /voice-stream HTTP/1.0', ...upgradeLines]],
    ['an upgrade over HTTP/2.0', 400, ['GET /voice-stream HTTP/2.0', ...upgradeLines]],
    [
      'an upgrade of a foreign host',
      403,
      ['GET /voice-stream HTTP/1.1', ...upgradeLines.with(0, 'Host: a.b')],
    ],
    ['a request of a foreign host', 403, ['GET / HTTP/1.1', 'Host: a.b', close]],
    ['two hosts', 400, ['GET / HTTP/1.1', 'Host: 127.0.0.1', 'Host: 127.0.0.1', close]],
    ['OPTIONS for the whole server', 400, ['OPTIONS * HTTP/1.1', 'Host: 127.0.0.1', close]],
    ['an upgrade for the whole server', 400, ['GET * HTTP/1.1', ...upgradeLines]],
    [
      'an upgrade to a draft of the protocol',
      400,
      ['GET /voice-stream HTTP/1.1', ...upgradeLines.with(3, 'Sec-WebSocket-Version: 8')],
    ],
    [
      'an upgrade with a body',
      400,
      ['GET /voice-stream HTTP/1.1', ...upgradeLines, 'Content-Length: 5', '', 'hello'],
    ],
    [
      'an upgrade with a body in chunks',
      400,
      ['GET /voice-stream HTTP/1.1', ...upgradeLines, 'Transfer-Encoding: chunked', '', '5', 'hello', '0'],
    ],
    ['an upgrade with POST', 400, ['POST /voice-stream HTTP/1.1', ...upgradeLines]],
    ['CONNECT', 405, ['CONNECT evil.example:443 HTTP/1.1', 'Host: evil.example:443', close]],
    ['no HTTP', 400, ['HELLO']],
  ])('%s is refused with %i in the service’s format', async (_name, status, lines) => {
    const { port } = await services[kind]();
    const answer = await rawHttp(port, httpRequest(lines));
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({
      error: { code: expect.any(String), message: expect.any(String) },
    });
    expect(answer.headers).toContainEqual(['Cache-Control', 'no-cache, no-store, must-revalidate']);
    if (status === 405) expect(answer.headers).toContainEqual(['Allow', 'POST, OPTIONS']);
  });

  test('a file of the page with a name that no file has is not found', async () => {
    const emulator = await startEmulator({ page: createPage(() => facts) });
    const service =
      kind === 'emulator' ? emulator : await startProxy(emulator, { page: createPage(() => facts) });
    for (const length of [300, 3_000]) {
      const name = `${'a'.repeat(length)}.js`;
      const lines = [`GET /__voicectl/assets/${name} HTTP/1.1`, 'Host: 127.0.0.1', close];
      expect((await rawHttp(service.port, httpRequest(lines))).status).toBe(404);
    }
  });

  test('a stream that is asked for while the service stops is refused with 503', async () => {
    const service = await services[kind]();
    const open = openStream(service.wsUrl);
    await open.opened;
    // It does not answer the close frame, so the service goes on stopping.
    open.socket.pause();
    const late = connect(service.port, '127.0.0.1');
    late.write('GET /voice-stream HTTP/1.1\r\n');
    // The service knows this connection once it answers a later one.
    await rawHttp(service.port, httpRequest(['GET / HTTP/1.1', 'Host: 127.0.0.1', close]));
    const closing = service.close();
    late.write(httpRequest(upgradeLines));
    const [answer] = (await once(late, 'data')) as [Buffer];
    expect(answer.toString()).toContain('HTTP/1.1 503 ');
    expect(answer.toString()).toContain('UNAVAILABLE');
    late.destroy();
    open.socket.terminate();
    await closing;
  });

  test('an upgrade with POST opens no stream that a tap or the target could see', async () => {
    const tapped: (number | undefined)[] = [];
    const tap = (stream?: number) => {
      if (stream !== undefined) tapped.push(stream);
      return {};
    };
    const emulator = await startEmulator({ tap });
    const { port } = kind === 'emulator' ? emulator : await startProxy(emulator);
    const answer = await rawHttp(port, httpRequest(['POST /voice-stream HTTP/1.1', ...upgradeLines]));
    expect(answer.body).toContain('An upgrade needs the method GET');
    expect(tapped).toEqual([]);
  });

  test('an unknown expectation is not answered with an empty 417', async () => {
    const { port } = await services[kind]();
    const lines = ['POST /nowhere HTTP/1.1', 'Host: 127.0.0.1', 'Expect: tea', 'Content-Length: 0', close];
    expect((await rawHttp(port, httpRequest(lines))).status).toBe(404);
  });
});
