import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createPage } from '../../../src/page/server/create-page.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';

const startEmulator = setUpEmulators();
const token = 'the-token-of-this-start';
const facts = () => ({ baseUrl: 'http://127.0.0.1', wsUrl: 'ws://127.0.0.1', isDefault: true, curl: '' });
const start = (options = {}) =>
  startEmulator({ reply: 'silence', page: createPage(facts, { token }), ...options });

interface Asked {
  line: string;
  headers?: Record<string, string | undefined>;
  body?: string;
}

/** One request as bytes on a socket: browsers and `fetch` forbid some of these headers. Resolves with the head of the answer. */
function ask(
  port: number,
  { line, headers = {}, body = '' }: Asked,
): Promise<{ status: number; head: string }> {
  const all = { Host: `127.0.0.1:${port}`, Connection: 'close', ...headers };
  const length = line.startsWith('POST') ? [`Content-Length: ${Buffer.byteLength(body)}`] : [];
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write([`${line} HTTP/1.1`, ...lines, ...length, '', body].join('\r\n')),
    );
    socket.once('data', (chunk) => {
      socket.destroy();
      const head = chunk.toString().split('\r\n\r\n')[0] ?? '';
      resolve({ status: Number(head.split(' ')[1]), head });
    });
    socket.on('error', reject);
  });
}

const json = { 'Content-Type': 'application/json' };
const withToken = { ...json, 'X-Voicectl-Token': token };
const ofPage = (port: number) => ({ Origin: `http://127.0.0.1:${port}`, 'Sec-Fetch-Site': 'same-origin' });

/** Everything that changes or follows something. */
const acts: readonly [line: string, body: string][] = [
  ['POST /__voicectl/clock', '{"advanceMs":1}'],
  ['POST /__voicectl/reset', '{}'],
  ['POST /__voicectl/messages', '{"status":"speaking"}'],
  ['POST /__voicectl/faults', '{"name":"drop"}'],
  ['POST /__voicectl/faults/clear', '{}'],
  ['POST /__voicectl/events', '{"event":"door"}'],
  ['POST /__voicectl/close', '{"code":1012}'],
  ['POST /__voicectl/speech', 'four'],
  ['GET /__voicectl/journal/live', ''],
  ['GET /__voicectl/page/live', ''],
  ['GET /__voicectl/page/listen?stream=1', ''],
];

describe('what changes or follows something', () => {
  type Headers = (port: number) => Record<string, string | undefined>;
  const wrong: readonly [who: string, headers: Headers][] = [
    ['the page without the token', (port) => ({ ...json, ...ofPage(port) })],
    ['the page with another token', (port) => ({ ...withToken, ...ofPage(port), 'X-Voicectl-Token': 'x' })],
    [
      'another port of this machine',
      () => ({ ...json, Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'same-site' }),
    ],
    ['another port, without Fetch Metadata', () => ({ ...json, Origin: 'http://127.0.0.1:3000' })],
    ['another port that has the token', () => ({ ...withToken, Origin: 'http://127.0.0.1:3000' })],
    [
      'another port that has the token and says it is ours',
      () => ({ ...withToken, Origin: 'http://127.0.0.1:3000', 'Sec-Fetch-Site': 'same-origin' }),
    ],
    ['another scheme of this origin', (port) => ({ ...withToken, Origin: `https://127.0.0.1:${port}` })],
    [
      'another site',
      () => ({ ...withToken, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }),
    ],
    ['an opaque page', () => ({ ...withToken, Origin: 'null', 'Sec-Fetch-Site': 'cross-site' })],
    [
      'a link or an image of another site',
      () => ({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }),
    ],
    ['an address that is typed', () => ({ 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' })],
    [
      'a name that means this machine today',
      (port) => ({ ...withToken, ...ofPage(port), Host: `evil.example:${port}` }),
    ],
    [
      'a name that means this machine today, as its own page',
      (port) => ({
        ...withToken,
        Host: `evil.example:${port}`,
        Origin: `http://evil.example:${port}`,
        'Sec-Fetch-Site': 'same-origin',
      }),
    ],
  ];

  test.each(wrong)('is refused to %s', async (_who, headers) => {
    const { port, control } = await start();
    const answers: unknown[] = [];
    for (const [line, body] of acts) {
      const { status } = await ask(port, { line, body, headers: headers(port) });
      if (status !== 403) answers.push([line, status]);
    }
    expect(answers).toEqual([]);
    expect(control.time().aheadMs).toBe(0);
    expect(control.faults.list()).toEqual([]);
  });

  test.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    undefined,
  ])('is refused as a form of the type %s, even with the token', async (type) => {
    const { port, control } = await start();
    const headers = { ...withToken, ...ofPage(port), 'Content-Type': type };
    const { status } = await ask(port, { line: 'POST /__voicectl/clock', body: '{"advanceMs":1}', headers });
    expect(status).toBe(403);
    expect(control.time().aheadMs).toBe(0);
  });

  test('is done for the page with the token', async () => {
    const { port } = await start();
    const statuses = [];
    for (const [line, body] of acts) {
      const { status } = await ask(port, { line, body, headers: { ...withToken, ...ofPage(port) } });
      statuses.push([line, status]);
    }
    expect(statuses).toEqual(acts.map(([line]) => [line, 200]));
  });

  test('is done for programs of this machine as before, and beyond loopback with the token as with the secret', async () => {
    const { port } = await start();
    for (const [line, body] of acts.slice(0, 8))
      expect([line, (await ask(port, { line, body })).status]).toEqual([line, 200]);

    const wide = await start({ host: '0.0.0.0', acceptKeys: ['k'], controlSecret: 's3cret' });
    const move = { line: 'POST /__voicectl/clock', body: '{"advanceMs":1}' };
    expect((await ask(wide.port, move)).status).toBe(401);
    const page = { ...withToken, ...ofPage(wide.port) };
    expect((await ask(wide.port, { ...move, headers: page })).status).toBe(200);
    const forwarded = { ...json, Via: '1.1 proxy' };
    expect((await ask(port, { ...move, headers: forwarded })).status).toBe(401);
  });

  test('is refused to every browser where there is no page', async () => {
    const { port } = await startEmulator();
    for (const headers of [ofPage(port), { ...ofPage(port), ...withToken }])
      expect(
        (await ask(port, { line: 'POST /__voicectl/reset', headers: { ...json, ...headers } })).status,
      ).toBe(403);
    expect((await ask(port, { line: 'GET /__voicectl/' })).status).toBe(404);
  });
});

describe('the files of the page', () => {
  const files = ['', 'assets/app.js', 'assets/app.css', 'assets/icon.svg'];

  test.each(files)(
    '%j may load nothing from elsewhere, be in no frame, and be kept by nobody',
    async (file) => {
      const { port } = await start();
      const { status, head } = await ask(port, { line: `GET /__voicectl/${file}` });
      expect(status).toBe(200);
      const policy = /Content-Security-Policy: (.*)/.exec(head)?.[1] ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|http|\*/);
      expect(head).toContain('X-Content-Type-Options: nosniff');
      expect(head).toContain('Referrer-Policy: no-referrer');
      expect(head).toMatch(/Cache-Control: .*no-store/);
      expect(head).not.toContain('Access-Control');
    },
  );

  test.each([
    ['GET /__voicectl/assets/..%2Fcli.js', 404],
    ['GET /__voicectl/assets/../cli.js', 404],
    ['GET /__voicectl/assets/constructor', 404],
    ['GET /__voicectl/page/recordings/1.json', 400],
    ['GET /__voicectl', 308],
  ])('%s is answered with %i', async (line, expected) => {
    const { port } = await start();
    expect((await ask(port, { line })).status).toBe(expected);
  });

  test('do not contain the token', async () => {
    const { baseUrl } = await start();
    for (const file of files)
      expect(await (await fetch(`${baseUrl}/__voicectl/${file}`)).text()).not.toContain(token);
  });
});
