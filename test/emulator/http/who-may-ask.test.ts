import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { controlPrefix } from '../../../src/protocol/control.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';

const startEmulator = setUpEmulators();
const body = '{"apiKey":"k","deviceId":"d"}';

type Headers = Record<string, string | undefined>;

const upgrade = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

/** One request of each kind, by its first line, what it needs beside, and what it is answered where it may ask. */
const requests: Record<string, { line: string; headers: Headers; body?: string; served: number }> = {
  token: {
    line: 'POST /api/websocket-voice/token',
    headers: { 'Content-Type': 'application/json', 'Content-Length': String(body.length) },
    body,
    served: 200,
  },
  stream: { line: 'GET /voice-stream', headers: upgrade, served: 101 },
  control: { line: `GET ${controlPrefix}/health`, headers: {}, served: 200 },
};

/** The status and the body of the answer; the status alone where the connection then goes on. */
function ask(port: number, line: string, headers: Headers, content = '', version = 'HTTP/1.1') {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write([`${line} ${version}`, ...lines, '', content].join('\r\n')),
    );
    let text = '';
    const finish = () => {
      socket.destroy();
      resolve({ status: Number(text.split(' ')[1]), body: text.split('\r\n\r\n')[1] ?? '' });
    };
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.startsWith('HTTP/1.1 101')) finish();
    });
    socket.on('end', finish).on('error', reject);
  });
}

function askFor(port: number, kind: string, headers: Headers) {
  const request = requests[kind]!;
  return ask(port, request.line, { Connection: 'close', ...headers, ...request.headers }, request.body);
}

const ourHosts = ['localhost', '127.0.0.1:1', 'LOCALHOST', 'app.localhost:80', '[::1]:80', 'localhost:'];
const foreignHosts = [
  'evil.example',
  '::1]',
  '[::1',
  '::1',
  '[::1]]',
  '[localhost]',
  'evil.example/.localhost',
  'evil.example\\.localhost',
  'evil.example#.localhost',
  'evil example.localhost',
  'user@localhost',
  '.localhost',
  'evil..localhost',
  'localhost:65536',
  'localhost:8x',
  'localhost:80:80',
  'localhost/',
];
const ourOrigins = ['http://localhost:3000', 'https://[::1]'];
const foreignOrigins = ['https://evil.example', 'null'];
const ownSites = [undefined, 'none', 'same-origin'];
const otherSites = ['same-site', 'cross-site', 'none, cross-site', 'None', ''];

type Asker = [host: string, origin: string | undefined, site: string | undefined];
const hosts = [...ourHosts, ...foreignHosts];
const origins = [undefined, ...ourOrigins, ...foreignOrigins];
const sites = [...ownSites, ...otherSites];
/** Each host with each origin and with each site, and each origin with each site. */
const everyTwo: Asker[] = [
  ...hosts.flatMap((host) => origins.map((origin): Asker => [host, origin, undefined])),
  ...hosts.flatMap((host) => sites.map((site): Asker => [host, undefined, site])),
  ...origins.flatMap((origin) => sites.map((site): Asker => ['localhost', origin, site])),
];

describe.each(Object.keys(requests))('a request for the %s', (kind) => {
  test('is served under each of our host names, to our pages and programs, and to nobody else', async () => {
    const { port } = await startEmulator({ rateLimit: 10_000, reply: 'silence' });
    const wrong: unknown[] = [];
    for (const [host, origin, site] of everyTwo) {
      const isOwnSite = ownSites.includes(site);
      const isOurOrigin = origin !== undefined && ourOrigins.includes(origin);
      // The control API does not talk to pages of other sites, whatever their Origin is.
      const isOurPage = isOurOrigin ? kind !== 'control' || isOwnSite : origin === undefined && isOwnSite;
      const expected = ourHosts.includes(host) && isOurPage ? requests[kind]!.served : 403;
      const headers = { Host: host, Origin: origin, 'Sec-Fetch-Site': site };
      const { status } = await askFor(port, kind, headers);
      if (status !== expected) wrong.push({ ...headers, status, expected });
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  test('is judged by the host of an absolute target as well', async () => {
    const { port } = await startEmulator({ reply: 'silence' });
    const { line, headers, body: content, served } = requests[kind]!;
    const [method = '', path = ''] = line.split(' ');
    const from = (authority: string) =>
      ask(
        port,
        `${method} http://${authority}${path}`,
        { Connection: 'close', Host: 'localhost', ...headers },
        content,
      );
    expect((await from('localhost:1')).status).toBe(served);
    expect((await from('[::1]')).status).toBe(served);
    expect((await from('evil.example')).status).toBe(403);
    for (const bad of ['localhost:99999', '[::1', 'a@localhost', '', 'localhost:x']) {
      const { status, body: answered } = await from(bad);
      expect([bad, status]).toEqual([bad, 400]);
      expect(JSON.parse(answered)).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    }
  });
});

test('a link on a page of another site is followed to a page, and not to the control API', async () => {
  const { port } = await startEmulator();
  const link = { Host: 'localhost', 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' };
  const follow = async (path: string) =>
    (await ask(port, `GET ${path}`, { ...link, Connection: 'close' })).status;
  expect(await follow('/nowhere')).toBe(404);
  expect(await follow(`${controlPrefix}/health`)).toBe(403);
});

describe('a request that a proxy has forwarded to the control API', () => {
  const forwarded = [
    ['Forwarded', 'for=192.0.2.1'],
    ['Via', '1.1 proxy'],
    ['X-Forwarded-For', '192.0.2.1'],
    ['X-Forwarded-Host', 'emulator.example'],
    ['X-Forwarded-Proto', 'https'],
    ['x-forwarded', 'for=1'],
    ['X-Real-IP', '192.0.2.1'],
    ['X-Client-IP', '192.0.2.1'],
    ['True-Client-IP', '192.0.2.1'],
    ['Fly-Client-IP', '192.0.2.1'],
    ['CF-Connecting-IP', '192.0.2.1'],
    ['X-Original-Host', 'emulator.example'],
  ] as const;
  const askControl = async (port: number, headers: Headers) =>
    (await ask(port, `POST ${controlPrefix}/reset`, { Host: 'localhost', Connection: 'close', ...headers }))
      .status;

  test.each(forwarded)('according to %s needs the secret', async (name, value) => {
    const { port } = await startEmulator({ controlSecret: 's3cret' });
    expect(await askControl(port, { [name]: value })).toBe(401);
    expect(await askControl(port, { [name]: value, Authorization: 'Bearer wrong' })).toBe(401);
    expect(await askControl(port, { [name]: value, Authorization: 'Bearer s3cret' })).toBe(200);
    expect(await askControl(port, {})).toBe(200);
  });

  test('is refused if there is no secret', async () => {
    const { port } = await startEmulator();
    for (const given of ['Bearer ', 'Bearer undefined', '']) {
      expect(await askControl(port, { Via: '1.1 proxy', Authorization: given })).toBe(401);
    }
    expect(await askControl(port, {})).toBe(200);
  });

  test('does not matter to the service itself', async () => {
    const { port } = await startEmulator({ reply: 'silence' });
    const headers = { Host: 'localhost', 'X-Forwarded-For': '192.0.2.1' };
    expect((await askFor(port, 'token', headers)).status).toBe(200);
    expect((await askFor(port, 'stream', headers)).status).toBe(101);
  });
});
