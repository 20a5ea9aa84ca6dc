import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createPage } from '../../../src/page/server/create-page.ts';
import { askByHand } from '../../helpers/ask-by-hand.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { hostileRequests, ofPage } from '../../helpers/hostile-requests.ts';
import { token } from '../../helpers/page-tab.ts';
import { setUpProxies } from '../../helpers/proxies.ts';
import { hasRedis, setUpRedis } from '../../helpers/redis.ts';
import { setUpSharedEmulators } from '../../helpers/shared-emulators.ts';

const startEmulator = setUpEmulators();

const facts = () => ({ baseUrl: 'http://127.0.0.1', wsUrl: 'ws://127.0.0.1', isDefault: true, curl: '' });
const start = (options = {}) =>
  startEmulator({ reply: 'silence', page: createPage(facts, { token }), ...options });

const json = { 'Content-Type': 'application/json' };
const withToken = { ...json, 'X-Voicectl-Token': token };

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

const startProxy = setUpProxies();
const redis = setUpRedis();
const startShared = setUpSharedEmulators();
const page = createPage(facts, { token });
const places = [
  ['an emulator', true, () => start()],
  ['a proxy', true, async () => startProxy(await startEmulator(), { page })],
  [
    'one of several emulators',
    hasRedis,
    async () => startShared({ url: (await redis()).url, prefix: randomUUID() }, { page }),
  ],
] as const;

describe.each(places.filter(([, isHere]) => isHere))(
  'a request that changes or follows something on the page of %s',
  (_place, _isHere, open) => {
    test.each(hostileRequests(token))('is refused to %s', async (_who, headers) => {
      const { port, control } = await open();
      const answers: unknown[] = [];
      for (const [line, body] of acts) {
        const { status } = await askByHand(port, { line, body, headers: headers(port) });
        if (status !== 403) answers.push([line, status]);
      }
      expect(answers).toEqual([]);
      expect((await control.time()).aheadMs).toBe(0);
      expect(await control.faults.list()).toEqual([]);
    });

    test.each([
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
      undefined,
    ])('is refused as a form of the type %s, even with the token', async (type) => {
      const { port, control } = await open();
      const headers = { ...withToken, ...ofPage(port), 'Content-Type': type };
      const { status } = await askByHand(port, {
        line: 'POST /__voicectl/clock',
        body: '{"advanceMs":1}',
        headers,
      });
      expect(status).toBe(403);
      expect((await control.time()).aheadMs).toBe(0);
    });

    test('is never shown in a frame', async () => {
      const { port } = await open();
      const { status, head } = await askByHand(port, { line: 'GET /__voicectl/' });
      expect(status).toBe(200);
      expect(/Content-Security-Policy: (.*)/.exec(head)?.[1]).toContain("frame-ancestors 'none'");
    });

    test('is answered for the page with the token', async () => {
      const { port } = await open();
      const statuses = [];
      for (const [line, body] of acts) {
        const { status } = await askByHand(port, { line, body, headers: { ...withToken, ...ofPage(port) } });
        statuses.push([line, status]);
      }
      expect(statuses).toEqual(acts.map(([line]) => [line, 200]));
    });
  },
);

const beyondLoopback = {
  'an emulator': () => start({ host: '0.0.0.0', acceptKeys: ['k'], controlSecret: 's3cret' }),
  'a proxy': async () => {
    const { baseUrl, wsUrl } = await startEmulator();
    const wide = { host: '0.0.0.0', allowPlaintext: true, controlSecret: 's3cret', page };
    return startProxy({ baseUrl, wsUrl }, wide);
  },
};

describe('a request that changes or follows something', () => {
  test.each(Object.entries(beyondLoopback))(
    'needs the secret or the page token where %s listens beyond loopback, even on the same machine',
    async (_place, open) => {
      const { port } = await open();
      const move = { line: 'POST /__voicectl/clock', body: '{"advanceMs":1}' };
      const status = async (headers: Record<string, string>) =>
        (await askByHand(port, { ...move, headers: { ...json, ...headers } })).status;
      expect(await status({})).toBe(401);
      expect(await status({ Authorization: 'Bearer wrong' })).toBe(401);
      expect(await status({ Authorization: 'Bearer s3cret' })).toBe(200);
      expect(await status({ ...withToken, ...ofPage(port) })).toBe(200);
    },
  );

  test('is answered for programs on this machine without a token, unless a proxy forwarded it', async () => {
    const { port } = await start();
    for (const [line, body] of acts.slice(0, 8))
      expect([line, (await askByHand(port, { line, body })).status]).toEqual([line, 200]);

    const move = { line: 'POST /__voicectl/clock', body: '{"advanceMs":1}' };
    const forwarded = { ...json, Via: '1.1 proxy' };
    expect((await askByHand(port, { ...move, headers: forwarded })).status).toBe(401);
  });

  test('is refused to every browser if there is no page', async () => {
    const { port } = await startEmulator();
    for (const headers of [ofPage(port), { ...ofPage(port), ...withToken }])
      expect(
        (await askByHand(port, { line: 'POST /__voicectl/reset', headers: { ...json, ...headers } })).status,
      ).toBe(403);
    expect((await askByHand(port, { line: 'GET /__voicectl/' })).status).toBe(404);
  });
});

describe('the files of the page', () => {
  const files = ['', 'assets/app.js', 'assets/app.css', 'assets/icon.svg'];

  test.each(files)('%j may not load anything from elsewhere, be framed, or be cached', async (file) => {
    const { port } = await start();
    const { status, head } = await askByHand(port, { line: `GET /__voicectl/${file}` });
    expect(status).toBe(200);
    const policy = /Content-Security-Policy: (.*)/.exec(head)?.[1] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toMatch(/unsafe|http|wss?:|\*/);
    expect(head).toContain('X-Content-Type-Options: nosniff');
    expect(head).toContain('Referrer-Policy: no-referrer');
    expect(head).toMatch(/Cache-Control: .*no-store/);
    expect(head).not.toContain('Access-Control');
  });

  test.each([
    ['GET /__voicectl/assets/..%2Fcli.js', 404],
    ['GET /__voicectl/assets/../cli.js', 404],
    ['GET /__voicectl/assets/constructor', 404],
    ['GET /__voicectl/page/recordings/1.json', 400],
    ['GET /__voicectl', 308],
  ])('%s is answered with %i', async (line, expected) => {
    const { port } = await start();
    expect((await askByHand(port, { line })).status).toBe(expected);
  });

  test('do not contain the token', async () => {
    const { baseUrl } = await start();
    for (const file of files)
      expect(await (await fetch(`${baseUrl}/__voicectl/${file}`)).text()).not.toContain(token);
  });
});
