import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { httpRequest, rawHttp } from '../../helpers/raw-http.ts';

const startEmulator = setUpEmulators();
const tokenPath = '/api/websocket-voice/token';
const goodBody = '{"apiKey":"key-1","deviceId":"device-1"}';

const upgradeLines = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];
const tokenLines = [
  'Content-Type: application/json',
  `Content-Length: ${goodBody.length}`,
  'Connection: close',
];

/** The same lines as a token request and as an upgrade; whatever status comes first. */
async function both(port: number, lines: string[], version = 'HTTP/1.1') {
  const token = httpRequest([`POST ${tokenPath} ${version}`, ...lines, ...tokenLines], goodBody);
  const upgrade = httpRequest([`GET /voice-stream ${version}`, ...lines, ...upgradeLines]);
  return { token: await rawHttp(port, token), upgrade: await firstAnswer(port, upgrade) };
}

/** The head of the answer: a stream that was opened does not end by itself. */
function firstAnswer(port: number, request: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.once('data', (chunk) => {
      const text = chunk.toString();
      resolve({ status: Number(text.split(' ')[1]), text });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('Host', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost',
    'LOCALHOST:8787',
    'app.localhost',
    '[::1]',
    '[::1]:80',
  ])('%s is served', async (host) => {
    const { port } = await startEmulator();
    const { token, upgrade } = await both(port, [`Host: ${host}`]);
    expect([token.status, upgrade.status]).toEqual([200, 101]);
  });

  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1.nip.io',
    'evil.example:127.0.0.1',
    'evil.example@127.0.0.1',
    '127.0.0.1@evil.example',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0.0.0.0',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::1',
    '[::1]evil.example',
    '10.0.0.1',
    '192.168.1.10:8787',
    '[fe80::1]',
    'localhost, evil.example',
    '-',
  ])('%s is refused', async (host) => {
    const { port, events } = await startEmulator();
    const { token, upgrade } = await both(port, [`Host: ${host}`]);
    expect([400, 403]).toContain(token.status);
    expect([400, 403]).toContain(upgrade.status);
    expect(JSON.parse(token.body)).toEqual({
      error: { code: expect.any(String), message: expect.any(String) },
    });
    expect(events.some(({ type }) => type === 'token-issued' || type === 'stream-opened')).toBe(false);
  });

  test.each([
    ['given twice', ['Host: 127.0.0.1', 'Host: evil.example']],
    ['given twice, the other way round', ['Host: evil.example', 'Host: 127.0.0.1']],
    ['given twice, the same', ['Host: 127.0.0.1', 'host: 127.0.0.1']],
    ['missing', []],
    ['empty', ['Host: ']],
  ])('that is %s is refused in the service’s format', async (_name, lines) => {
    const { port } = await startEmulator();
    const { token, upgrade } = await both(port, lines);
    expect([400, 403]).toContain(token.status);
    expect([400, 403]).toContain(upgrade.status);
    expect(JSON.parse(token.body).error.code).toMatch(/^(INVALID_REQUEST|FORBIDDEN)$/);
  });

  test('that is missing on HTTP/1.0 is refused', async () => {
    const { port } = await startEmulator();
    const { token, upgrade } = await both(port, [], 'HTTP/1.0');
    expect([token.status, upgrade.status]).toEqual([400, 400]);
  });

  test('names that are allowed are served, in upper or lower case, and no others', async () => {
    const { port } = await startEmulator({ allowHosts: ['Voice.example.test'] });
    const served = await both(port, ['Host: voice.EXAMPLE.test:8787']);
    expect([served.token.status, served.upgrade.status]).toEqual([200, 101]);
    for (const other of ['www.voice.example.test', 'voice.example.test.evil.example', 'voice.example.tes']) {
      const { token, upgrade } = await both(port, [`Host: ${other}`]);
      expect([other, token.status, upgrade.status]).toEqual([other, 403, 403]);
    }
  });
});

describe('Origin', () => {
  test.each([
    'null',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.1@evil.example',
    'http://evil.example:127',
    'file://',
    'chrome-extension://localhost',
    'localhost',
    '*',
    'http://localhost, http://evil.example',
  ])('%s is refused, and learns nothing about other origins', async (origin) => {
    const { port } = await startEmulator();
    const { token, upgrade } = await both(port, ['Host: 127.0.0.1', `Origin: ${origin}`]);
    expect([token.status, upgrade.status]).toEqual([403, 403]);
    expect(token.text).not.toMatch(/access-control/i);
  });

  test.each(['http://localhost:3000', 'https://app.localhost', 'http://127.0.0.1', 'http://[::1]:5173'])(
    '%s is this machine: it is served, and repeated in the answer',
    async (origin) => {
      const { port } = await startEmulator();
      const { token, upgrade } = await both(port, ['Host: 127.0.0.1', `Origin: ${origin}`]);
      expect([token.status, upgrade.status]).toEqual([200, 101]);
      expect(token.headers).toContainEqual(['Access-Control-Allow-Origin', origin]);
      expect(token.headers).toContainEqual(['Vary', 'Origin']);
      const exposed = token.headers.find(([name]) => name === 'Access-Control-Expose-Headers')?.[1];
      expect(exposed).toBe('X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After');
    },
  );

  test('that is allowed is served, and another one is not', async () => {
    const { port } = await startEmulator({ allowOrigins: ['https://app.example.test'] });
    const ask = (origin: string) => both(port, ['Host: 127.0.0.1', `Origin: ${origin}`]);
    const served = await ask('https://app.example.test');
    expect([served.token.status, served.upgrade.status]).toEqual([200, 101]);
    for (const other of [
      'https://app.example.test.evil.example',
      'https://app.example.test:444',
      'https://app.example.tes',
      'http://app.example.test',
    ]) {
      const { token, upgrade } = await ask(other);
      expect([other, token.status, upgrade.status]).toEqual([other, 403, 403]);
    }
  });

  test('that is loopback does not help a Host that is not loopback', async () => {
    const { port } = await startEmulator();
    const { token, upgrade } = await both(port, ['Host: evil.example', 'Origin: http://localhost']);
    expect([token.status, upgrade.status]).toEqual([403, 403]);
  });

  test('of a page is allowed by a preflight that names it and no other', async () => {
    const { port } = await startEmulator();
    const preflight = (origin: string) =>
      rawHttp(
        port,
        httpRequest([
          `OPTIONS ${tokenPath} HTTP/1.1`,
          'Host: 127.0.0.1',
          `Origin: ${origin}`,
          'Access-Control-Request-Method: POST',
          'Access-Control-Request-Headers: content-type',
          'Connection: close',
        ]),
      );
    const allowed = await preflight('http://localhost:3000');
    expect(allowed.status).toBe(204);
    expect(allowed.headers).toEqual(
      expect.arrayContaining([
        ['Access-Control-Allow-Origin', 'http://localhost:3000'],
        ['Access-Control-Allow-Methods', 'POST, OPTIONS'],
        ['Access-Control-Allow-Headers', 'Content-Type, Accept'],
        ['Vary', 'Origin'],
      ]),
    );
    const refused = await preflight('https://evil.example');
    expect(refused.status).toBe(403);
    expect(refused.text).not.toMatch(/access-control/i);
  });
});

const close = ['Host: 127.0.0.1', 'Connection: close'];
const json = 'Content-Type: application/json';

test.each([
  ['an unknown path', 404, 'NOT_FOUND', ['GET /nowhere HTTP/1.1', ...close], ''],
  ['POST to the root', 404, 'NOT_FOUND', ['POST / HTTP/1.1', ...close], ''],
  ['the path in capitals', 404, 'NOT_FOUND', [`POST ${tokenPath.toUpperCase()} HTTP/1.1`, ...close], ''],
  ['the path with a slash', 404, 'NOT_FOUND', [`POST ${tokenPath}/ HTTP/1.1`, ...close], ''],
  ['another version', 404, 'NOT_FOUND', ['POST /api/v2/websocket-voice/token HTTP/1.1', ...close], ''],
  ['GET', 405, 'METHOD_NOT_ALLOWED', [`GET ${tokenPath} HTTP/1.1`, ...close], ''],
  ['DELETE', 405, 'METHOD_NOT_ALLOWED', [`DELETE ${tokenPath} HTTP/1.1`, ...close], ''],
  ['CONNECT', 405, 'METHOD_NOT_ALLOWED', ['CONNECT example.com:443 HTTP/1.1', ...close], ''],
  [
    'no content type',
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    [`POST ${tokenPath} HTTP/1.1`, ...close, 'Content-Length: 2'],
    '{}',
  ],
  [
    'a form',
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    [`POST ${tokenPath} HTTP/1.1`, ...close, 'Content-Type: text/plain', 'Content-Length: 2'],
    '{}',
  ],
  [
    'a body that is announced as too large',
    413,
    'PAYLOAD_TOO_LARGE',
    [`POST ${tokenPath} HTTP/1.1`, ...close, json, 'Content-Length: 16385'],
    '',
  ],
  [
    'chunks that become too large',
    413,
    'PAYLOAD_TOO_LARGE',
    [`POST ${tokenPath} HTTP/1.1`, ...close, json, 'Transfer-Encoding: chunked'],
    `4001\r\n${' '.repeat(0x4001)}\r\n`,
  ],
  ['the stream without an upgrade', 426, 'UPGRADE_REQUIRED', ['GET /voice-stream HTTP/1.1', ...close], ''],
  [
    '101 headers',
    431,
    'HEADERS_TOO_LARGE',
    [`POST ${tokenPath} HTTP/1.1`, ...close, ...Array.from({ length: 99 }, (_, i) => `X-${i}: 1`)],
    '',
  ],
  [
    '5,000 headers',
    431,
    'HEADERS_TOO_LARGE',
    [`GET / HTTP/1.1`, ...close, ...Array.from({ length: 5_000 }, () => 'a: b')],
    '',
  ],
  [
    'a header of 20 KB',
    431,
    'HEADERS_TOO_LARGE',
    ['GET / HTTP/1.1', ...close, `X: ${'x'.repeat(20_000)}`],
    '',
  ],
  ['an unknown method', 400, 'INVALID_REQUEST', ['BREW / HTTP/1.1', ...close], ''],
  ['an unknown version', 400, 'INVALID_REQUEST', ['GET / HTTP/9.9', ...close], ''],
  ['HTTP/2.0 in the first line', 400, 'INVALID_REQUEST', ['GET / HTTP/2.0', ...close], ''],
  [
    'HTTP/2.0 at the token path',
    400,
    'INVALID_REQUEST',
    [`POST ${tokenPath} HTTP/2.0`, ...close, json, `Content-Length: ${goodBody.length}`],
    goodBody,
  ],
  ['HTTP/0.9 in the first line', 400, 'INVALID_REQUEST', ['GET / HTTP/0.9', ...close], ''],
  ['a target without a slash', 400, 'INVALID_REQUEST', ['GET ftp://localhost/ HTTP/1.1', ...close], ''],
  ['a target in another scheme', 400, 'INVALID_REQUEST', ['GET mailto:a@localhost HTTP/1.1', ...close], ''],
  ['no HTTP', 400, 'INVALID_REQUEST', ['hello'], ''],
  [
    'two lengths',
    400,
    'INVALID_REQUEST',
    [`POST ${tokenPath} HTTP/1.1`, ...close, json, 'Content-Length: 2', 'Content-Length: 3'],
    '{}',
  ],
  [
    'a length beside chunks',
    400,
    'INVALID_REQUEST',
    [`POST ${tokenPath} HTTP/1.1`, ...close, json, 'Content-Length: 2', 'Transfer-Encoding: chunked'],
    '0\r\n\r\n',
  ],
  [
    'a chunk of no size',
    400,
    'INVALID_REQUEST',
    [`POST ${tokenPath} HTTP/1.1`, ...close, json, 'Transfer-Encoding: chunked'],
    'zz\r\n{}\r\n',
  ],
  ['NUL in a header', 400, 'INVALID_REQUEST', ['GET / HTTP/1.1', ...close, 'X: a\0b'], ''],
])('%s is answered with %i in the service’s format', async (_name, status, code, lines, body) => {
  const { port } = await startEmulator();
  const answer = await rawHttp(port, httpRequest(lines, body));
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toEqual({ error: { code, message: expect.any(String) } });
  expect(answer.headers).toContainEqual(['Content-Type', 'application/json']);
  expect(answer.headers).toContainEqual(['Cache-Control', 'no-cache, no-store, must-revalidate']);
  if (status === 405) expect(answer.headers).toContainEqual(['Allow', 'POST, OPTIONS']);
  if (status === 426)
    expect(answer.headers).toEqual(
      expect.arrayContaining([
        ['Upgrade', 'websocket'],
        ['Connection', 'Upgrade'],
      ]),
    );
});

test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/json;'])(
  'the content type %j is JSON',
  async (type) => {
    const { baseUrl } = await startEmulator();
    const init = { method: 'POST', headers: { 'Content-Type': type }, body: goodBody };
    expect((await fetch(baseUrl + tokenPath, init)).status).toBe(200);
  },
);

test('a body of 16 KiB is read, and one byte more is too much', async () => {
  const { baseUrl } = await startEmulator();
  const post = (body: string) =>
    fetch(baseUrl + tokenPath, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  expect((await post(goodBody.padEnd(16 * 1024))).status).toBe(200);
  expect((await post(goodBody.padEnd(16 * 1024 + 1))).status).toBe(413);
});

describe('an upgrade', () => {
  test.each([
    ['to another path', ['GET /voice-stream/ HTTP/1.1', ...upgradeLines], 404],
    ['to the token path', [`GET ${tokenPath} HTTP/1.1`, ...upgradeLines], 404],
    ['by POST', ['POST /voice-stream HTTP/1.1', ...upgradeLines], 400],
    ['over HTTP/1.0', ['GET /voice-stream HTTP/1.0', ...upgradeLines], 400],
    ['over HTTP/2.0', ['GET /voice-stream HTTP/2.0', ...upgradeLines], 400],
    ['without a key', ['GET /voice-stream HTTP/1.1', ...upgradeLines.slice(0, 3)], 400],
    [
      'with a bad key',
      ['GET /voice-stream HTTP/1.1', ...upgradeLines.slice(0, 3), 'Sec-WebSocket-Key: x'],
      400,
    ],
    [
      'of another version',
      [
        'GET /voice-stream HTTP/1.1',
        ...upgradeLines.filter((line) => !/Version/.test(line)),
        'Sec-WebSocket-Version: 9',
      ],
      400,
    ],
    [
      'of a draft of the protocol',
      [
        'GET /voice-stream HTTP/1.1',
        ...upgradeLines.filter((line) => !/Version/.test(line)),
        'Sec-WebSocket-Version: 8',
      ],
      400,
    ],
    [
      'with a bad sub-protocol',
      ['GET /voice-stream HTTP/1.1', ...upgradeLines, 'Sec-WebSocket-Protocol: ,'],
      400,
    ],
  ])('%s is refused in the service’s format', async (_name, lines, status) => {
    const { port } = await startEmulator();
    const answer = await rawHttp(port, httpRequest([...lines, 'Host: 127.0.0.1']));
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({
      error: { code: expect.any(String), message: expect.any(String) },
    });
  });

  test('with a query is accepted, and neither compression nor a sub-protocol is', async () => {
    const { port } = await startEmulator();
    const lines = ['GET /voice-stream?a=b HTTP/1.1', 'Host: 127.0.0.1', ...upgradeLines];
    const more = ['Sec-WebSocket-Extensions: permessage-deflate', 'Sec-WebSocket-Protocol: voice, audio'];
    const { status, text } = await firstAnswer(port, httpRequest([...lines, ...more]));
    expect(status).toBe(101);
    expect(text).not.toMatch(/Sec-WebSocket-(Extensions|Protocol)/i);
  });

  test.each([
    [
      'h2c',
      ['Connection: Upgrade, HTTP2-Settings, close', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    ],
    ['TLS', ['Connection: Upgrade, close', 'Upgrade: TLS/1.0']],
  ])('to %s, which any client may offer, is ignored', async (_name, lines) => {
    const { port } = await startEmulator();
    const head = [`POST ${tokenPath} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, json];
    const answer = await rawHttp(
      port,
      httpRequest([...head, `Content-Length: ${goodBody.length}`], goodBody),
    );
    expect(answer.status).toBe(200);
  });
});

test.each(['100-continue', 'something-else'])(
  'a request that expects %s is answered',
  async (expectation) => {
    const { port } = await startEmulator();
    const head = [`POST ${tokenPath} HTTP/1.1`, 'Host: 127.0.0.1', ...tokenLines, `Expect: ${expectation}`];
    const { text } = await rawHttp(port, httpRequest(head, goodBody));
    expect(text).toContain('HTTP/1.1 200 OK');
  },
);

test('requests on one connection are answered in order', async () => {
  const { port } = await startEmulator();
  const head = [`POST ${tokenPath} HTTP/1.1`, 'Host: 127.0.0.1', json, `Content-Length: ${goodBody.length}`];
  const first = httpRequest(head, goodBody);
  const last = httpRequest([...head, 'Connection: close'], goodBody);
  const { text } = await rawHttp(port, first + first + last);
  expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(3);
});

test('a slow request is answered with 408, and others are served meanwhile', async () => {
  const emulator = await startEmulator();
  const slow = [
    `POST ${tokenPath} HTTP/1.1\r\nHost: 127.0.0.1\r\n`,
    'POST',
    `POST ${tokenPath} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: `,
    httpRequest([`POST ${tokenPath} HTTP/1.1`, 'Host: 127.0.0.1', json, 'Content-Length: 40'], '{"api'),
  ];
  const timedOut = Promise.all(slow.map((head) => rawHttp(emulator.port, head)));
  expect((await emulator.requestToken()).status).toBe(200);
  for (const { status, body } of await timedOut) {
    expect(status).toBe(408);
    expect(JSON.parse(body).error.code).toBe('REQUEST_TIMEOUT');
  }
  expect((await emulator.requestToken()).status).toBe(200);
});

test('a request that is cut off leaves the service as it was', async () => {
  const emulator = await startEmulator();
  const head = httpRequest(
    [`POST ${tokenPath} HTTP/1.1`, 'Host: 127.0.0.1', json, 'Content-Length: 40'],
    '{"api',
  );
  await Promise.all(
    Array.from(
      { length: 20 },
      () =>
        new Promise<void>((resolve) => {
          const socket = connect(emulator.port, '127.0.0.1', () => {
            socket.write(head, () => socket.resetAndDestroy());
          });
          socket.on('error', () => {});
          socket.on('close', () => resolve());
        }),
    ),
  );
  expect((await emulator.requestToken()).status).toBe(200);
});

test.each(['http://127.0.0.1', 'HTTP://localhost:1'])(
  'a path after %s, as sent to a proxy, is the same path',
  async (origin) => {
    const { port } = await startEmulator();
    const request = httpRequest(
      [`POST ${origin}${tokenPath}?x=1 HTTP/1.1`, 'Host: 127.0.0.1', ...tokenLines],
      goodBody,
    );
    expect((await rawHttp(port, request)).status).toBe(200);
  },
);
