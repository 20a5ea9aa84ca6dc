import { describe, expect, test } from 'vitest';
import { readMoment } from '../../../src/protocol/rate-limit.ts';
import { type RunningEmulator, setUpEmulators } from '../../helpers/emulators.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { httpRequest, rawHttp } from '../../helpers/raw-http.ts';

const startEmulator = setUpEmulators();
const paths = ['/api/websocket-voice/token', '/api/v1/websocket-voice/token'];
const limitNames = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

const post = (path: string, body: string, more: string[] = []) =>
  httpRequest(
    [
      `POST ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      ...more,
    ],
    body,
  );
const goodBody = '{"apiKey":"key-1","deviceId":"device-1"}';

test.each(paths)(
  '%s answers 200 with a token and the headers of the specification, spelt as there',
  async (path) => {
    const clock = createManualClock();
    const { port } = await startEmulator({ clock });
    const { status, headers, body } = await rawHttp(port, post(path, goodBody, ['Accept: application/json']));
    expect(status).toBe(200);
    const fixed = headers.filter(([name]) => !['Date', 'Content-Length', 'Connection'].includes(name));
    expect(fixed).toEqual([
      ['Content-Type', 'application/json'],
      ['Cache-Control', 'no-cache, no-store, must-revalidate'],
      ['X-RateLimit-Limit', '60'],
      ['X-RateLimit-Remaining', '59'],
      ['X-RateLimit-Reset', String(clock.wall() / 1000 + 60)],
    ]);
    expect(JSON.parse(body)).toEqual({ token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) });
  },
);

test('both paths share one limit', async () => {
  const emulator = await startEmulator({ rateLimit: 2 });
  expect((await emulator.requestToken('d', { path: paths[0]! })).status).toBe(200);
  expect((await emulator.requestToken('d', { path: paths[1]! })).status).toBe(200);
  expect((await emulator.requestToken('d', { path: paths[0]! })).status).toBe(429);
});

test.each(['?x=1', '?'])('a query of %j changes nothing', async (query) => {
  const emulator = await startEmulator();
  expect((await emulator.requestToken('d', { path: paths[0] + query })).status).toBe(200);
});

test.each([
  ['not JSON', '{', undefined],
  ['an empty body', '', undefined],
  ['no key', '{"deviceId":"d"}', 'apiKey'],
  ['no device', '{"apiKey":"k"}', 'deviceId'],
  ['an empty key', '{"apiKey":"","deviceId":"d"}', 'apiKey'],
])('%s is an INVALID_REQUEST and does not count', async (_name, body, field) => {
  const emulator = await startEmulator({ rateLimit: 1 });
  const answer = await rawHttp(emulator.port, post(paths[0]!, body));
  expect(answer.status).toBe(400);
  const { error } = JSON.parse(answer.body);
  expect(error).toMatchObject({ code: 'INVALID_REQUEST', message: expect.any(String) });
  expect(error.details).toEqual(field === undefined ? undefined : { field, expected: 'string' });
  expect(answer.headers.map(([name]) => name)).not.toContain('X-RateLimit-Limit');
  expect((await emulator.requestToken('d')).status).toBe(200);
});

test('of 200 requests at once exactly 60 are answered with a token', async () => {
  const emulator = await startEmulator();
  const answers = await Promise.all(Array.from({ length: 200 }, () => emulator.requestToken('d')));
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  expect([count(200), count(429)]).toEqual([60, 140]);
  const tokens = answers.flatMap(({ body }) => body.token ?? []);
  expect(new Set(tokens).size).toBe(60);
  const remaining = answers
    .filter(({ status }) => status === 200)
    .map(({ headers }) => headers.get(limitNames[1]!));
  expect(new Set(remaining).size).toBe(60);
});

test('a device over its limit is refused, and allowed again at the time in the header', async () => {
  const clock = createManualClock();
  const emulator = await startEmulator({ clock, rateLimit: 1 });
  await emulator.token('d');
  clock.advance(20_500);
  const refused = await emulator.requestToken('d');
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMIT_EXCEEDED' } } });
  expect(refused.headers.get('Retry-After')).toBe('40');
  expect(limitNames.map((name) => refused.headers.get(name))).toEqual([
    '1',
    '0',
    String(Date.UTC(2026, 0, 1) / 1000 + 60),
  ]);
  expect((await emulator.requestToken('other')).status).toBe(200);
  clock.advance(40_000);
  expect((await emulator.requestToken('d')).status).toBe(200);
});

test('a request that still waits at a reset ends, and does not count afterwards', async () => {
  const clock = createManualClock();
  const emulator = await startEmulator({ clock, rateLimit: 1, faults: ['token-slow:delay=800ms'] });
  const cut = expect(emulator.requestToken()).rejects.toThrow('fetch failed');
  await emulator.event('fault-struck');
  emulator.control.reset();
  emulator.control.faults.clear();
  await cut;
  clock.advance(800);
  expect((await emulator.requestToken()).status).toBe(200);
  const types = emulator.control.journal.read({}, 10).map(({ type }) => type);
  expect(types.filter((type) => type === 'token-issued')).toHaveLength(1);
});

describe('a refused device that asks again', () => {
  /** What the last refusal says about the device's haste. */
  const hasteOf = ({ events }: RunningEmulator) => {
    const refused = events.filter((event) => event.type === 'request-refused').at(-1);
    return /; it retried .*/.exec(refused?.why ?? '')?.[0];
  };

  test('too soon is told how long to wait', async () => {
    const emulator = await startEmulator({ clock: createManualClock(), rateLimit: 0 });
    await emulator.requestToken();
    await emulator.requestToken();
    expect(hasteOf(emulator)).toBe(
      '; it retried after 0.0 s: wait as long as Retry-After says, and longer after each refusal',
    );
  });

  test('is not told about a header that the dialect does not send', async () => {
    const dialect = { rateLimit: { retryAfter: 'none' } } as const;
    const emulator = await startEmulator({ clock: createManualClock(), rateLimit: 0, dialect });
    await emulator.requestToken();
    await emulator.requestToken();
    expect(hasteOf(emulator)).toBe(
      '; it retried after 0.0 s: wait until then, and longer after each refusal',
    );
  });

  test('after a token in between is not too hasty', async () => {
    const faults = ['rate-limited:times=1'];
    const emulator = await startEmulator({ clock: createManualClock(), rateLimit: 1, faults });
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await emulator.requestToken()).status);
    expect(statuses).toEqual([429, 200, 429]);
    expect(hasteOf(emulator)).toBeUndefined();
  });

  test('after a reset is not too hasty', async () => {
    const emulator = await startEmulator({ clock: createManualClock(), rateLimit: 0 });
    await emulator.requestToken();
    emulator.control.reset();
    await emulator.requestToken();
    expect(hasteOf(emulator)).toBeUndefined();
  });
});

describe('the dialect', () => {
  test.each([
    ['seconds', /^\d{10}$/],
    ['milliseconds', /^\d{13}$/],
    ['iso8601', /^2026-01-01T00:01:00.000Z$/],
    ['http-date', /^Thu, 01 Jan 2026 00:01:00 GMT$/],
    ['delta', /^60$/],
  ] as const)('writes the reset as %s', async (resetFormat, pattern) => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, dialect: { rateLimit: { resetFormat } } });
    const text = (await emulator.requestToken()).headers.get(limitNames[2]!)!;
    expect(text).toMatch(pattern);
    expect(readMoment(text, clock.wall())).toBe(clock.wall() + 60_000);
  });

  test.each([
    ['seconds', '60'],
    ['http-date', 'Thu, 01 Jan 2026 00:01:00 GMT'],
    ['none', null],
  ] as const)('writes Retry-After as %s: %s', async (retryAfter, text) => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, rateLimit: 0, dialect: { rateLimit: { retryAfter } } });
    expect((await emulator.requestToken()).headers.get('Retry-After')).toBe(text);
  });

  test('names a date of Retry-After at which the device is allowed', async () => {
    const clock = createManualClock();
    const dialect = { rateLimit: { retryAfter: 'http-date' } } as const;
    const emulator = await startEmulator({ clock, rateLimit: 1, dialect });
    clock.advance(300);
    await emulator.token();
    clock.advance(20_900);
    const { headers } = await emulator.requestToken();
    clock.advance(Date.parse(headers.get('Retry-After')!) - clock.wall());
    expect((await emulator.requestToken()).status).toBe(200);
  });

  test.each([
    ['all', true, true],
    ['success', true, false],
    ['limited', false, true],
  ] as const)('puts the three headers on %s', async (headersOn, onSuccess, onLimited) => {
    const emulator = await startEmulator({ rateLimit: 1, dialect: { rateLimit: { headersOn } } });
    const [success, limited] = [await emulator.requestToken(), await emulator.requestToken()];
    const has = (headers: Headers) => limitNames.every((name) => headers.has(name));
    const hasNone = (headers: Headers) => !limitNames.some((name) => headers.has(name));
    expect([success.status, limited.status]).toEqual([200, 429]);
    expect((onSuccess ? has : hasNone)(success.headers)).toBe(true);
    expect((onLimited ? has : hasNone)(limited.headers)).toBe(true);
  });

  test.each([
    ['first-request', 2],
    ['sliding', 1],
  ] as const)('has a window that is %s', async (window, tokens) => {
    const clock = createManualClock();
    const emulator = await startEmulator({ clock, rateLimit: 2, dialect: { rateLimit: { window } } });
    await emulator.token();
    clock.advance(30_000);
    await emulator.token();
    clock.advance(30_000);
    const statuses = [await emulator.requestToken(), await emulator.requestToken()].map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(tokens);
  });

  test.each([
    ['accepted', 200],
    ['all', 429],
  ] as const)('counts %s requests', async (counts, status) => {
    const clock = createManualClock();
    const emulator = await startEmulator({
      clock,
      rateLimit: 1,
      dialect: { rateLimit: { counts, window: 'sliding' } },
    });
    await emulator.token();
    clock.advance(30_000);
    expect((await emulator.requestToken()).status).toBe(429);
    clock.advance(30_000);
    expect((await emulator.requestToken()).status).toBe(status);
  });

  test('words every refusal', async () => {
    const own = (status: number) => ({ status, code: `CODE_${status}`, message: `message ${status}` });
    const emulator = await startEmulator({
      rateLimit: 0,
      acceptKeys: ['key-1'],
      dialect: {
        refusals: {
          unauthorized: own(403),
          rateLimited: own(420),
          notFound: own(410),
          methodNotAllowed: own(418),
          unsupportedMediaType: own(422),
          invalidRequest: { status: 422 },
        },
      },
    });
    const ask = async (init: RequestInit, path = paths[0]) => {
      const response = await fetch(emulator.baseUrl + path, init);
      return { status: response.status, ...((await response.json()) as { error: object }).error };
    };
    const json = { 'Content-Type': 'application/json' };
    const body = (apiKey: string) => JSON.stringify({ apiKey, deviceId: 'd' });
    expect(await ask({ method: 'POST', headers: json, body: body('other') })).toEqual(own(403));
    expect(await ask({ method: 'POST', headers: json, body: body('key-1') })).toEqual(own(420));
    expect(await ask({ method: 'POST', headers: json, body: '{}' })).toMatchObject({
      status: 422,
      code: 'INVALID_REQUEST',
    });
    expect(await ask({ method: 'POST', body: 'text' })).toEqual(own(422));
    expect(await ask({ method: 'PUT' })).toEqual(own(418));
    expect(await ask({}, '/nowhere')).toEqual(own(410));
  });
});

describe('accepted keys', () => {
  test('let their owners in and nobody else', async () => {
    const emulator = await startEmulator({ acceptKeys: ['key-1', 'key-2'] });
    expect((await emulator.requestToken('d', { apiKey: 'key-1' })).status).toBe(200);
    expect((await emulator.requestToken('d', { apiKey: 'key-2' })).status).toBe(200);
    expect(await emulator.requestToken('d', { apiKey: 'key-3' })).toMatchObject({
      status: 401,
      body: { error: { code: 'INVALID_API_KEY' } },
    });
  });

  test('keep others from using up the limit of a device', async () => {
    const emulator = await startEmulator({ acceptKeys: ['key-1'], rateLimit: 1 });
    await emulator.requestToken('d', { apiKey: 'wrong' });
    expect((await emulator.requestToken('d', { apiKey: 'key-1' })).status).toBe(200);
  });
});
