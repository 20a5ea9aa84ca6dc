import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { requestToken, type TokenOptions, type TokenRetry } from '../../../src/wire/client/token.ts';
import { type CountedClock, createCountedClock } from '../../helpers/counted-clock.ts';
import { setUpServices } from '../../helpers/services.ts';

const services = setUpServices();

const wallMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const json = { 'Content-Type': 'application/json' };
const limitCodes = [429, 408] as const;

type Ask = Partial<TokenOptions> & { baseUrl: string };

function ask({ clock = systemClock, ...options }: Ask) {
  const { signal } = new AbortController();
  return requestToken({ apiKey: 'key-1', deviceId: 'device-1', retries: 0, clock, signal, ...options });
}

/** The error of a request that has to fail. */
async function failure(options: Ask): Promise<VoicectlError> {
  const thrown = await ask(options).then(
    () => 'no error',
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(VoicectlError);
  return thrown as VoicectlError;
}

/** A request whose every wait before a further attempt is passed by moving the clock. */
function skippingWaits(clock: CountedClock, options: Ask) {
  const waits: TokenRetry[] = [];
  const onRetry = (retry: TokenRetry) => {
    waits.push(retry);
    setImmediate(() => clock.advance(retry.delayMs));
  };
  return { waits, options: { clock, onRetry, ...options } };
}

const signature = 'c2lnbmF0dXJlLXRoYXQtZ3JhbnRzLWFjY2Vzcw';
const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJsYW1wIn0.${signature}`;

test.each([
  ['the body itself', 200, jwt],
  ['in another field', 200, JSON.stringify({ access_token: jwt })],
  ['repeated in a refusal', 401, JSON.stringify({ error: { code: 'X', message: `not ${jwt}` } })],
])('a JWT in the wrong place of an answer is in no report: %s', async (_, status, body) => {
  const { baseUrl } = await services.http((response) => response.writeHead(status, json).end(body));
  const seen: unknown[] = [];
  const { message, details } = await failure({ baseUrl, tap: { token: (exchange) => seen.push(exchange) } });
  const shown = JSON.stringify([message, details, seen]);
  expect(shown).toContain('[redacted]');
  expect(shown).not.toContain(signature);
});

const grant = (response: ServerResponse) => response.writeHead(200, json).end('{"token":"t.o.k"}');

describe('a token that is granted', () => {
  test.each([
    [200, '{"token":"t.o.k"}'],
    [200, '\ufeff{"token":"t.o.k"}'],
    [201, '{"token":"t.o.k","expiresIn":60,"device":{"id":1}}'],
    [299, '{"token":"t.o.k"}'],
  ])('is read from an answer with status %i and the body %s', async (status, body) => {
    const { baseUrl } = await services.http((response) => response.writeHead(status, json).end(body));
    expect(await ask({ baseUrl })).toMatchObject({ token: 't.o.k', status });
  });

  test('is read whatever content type the answer claims', async () => {
    const { baseUrl } = await services.http((response) => response.end('{"token":"t.o.k"}'));
    expect(await ask({ baseUrl })).toMatchObject({ token: 't.o.k' });
  });

  test('was requested with the key and the device in a JSON body and nowhere else', async () => {
    const { baseUrl, requests } = await services.http(grant);
    await ask({ baseUrl, apiKey: 'secret "key"', deviceId: 'dévice' });
    expect(requests).toHaveLength(1);
    const [{ method, url, headers, body }] = requests as [(typeof requests)[0]];
    expect({ method, url }).toEqual({ method: 'POST', url: '/api/websocket-voice/token' });
    expect(headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' });
    expect(JSON.stringify(headers)).not.toContain('secret');
    expect(JSON.parse(body)).toEqual({ apiKey: 'secret "key"', deviceId: 'dévice' });
  });

  test.each([
    ['', undefined, '/api/websocket-voice/token'],
    ['/', undefined, '/api/websocket-voice/token'],
    ['/some/base/', undefined, '/some/base/api/websocket-voice/token'],
    ['', 'v1', '/api/v1/websocket-voice/token'],
  ] as const)('was requested below base "%s" with version %s at %s', async (base, apiVersion, path) => {
    const { baseUrl, requests } = await services.http(grant);
    await ask({ baseUrl: baseUrl + base, apiVersion });
    expect(requests.map(({ url }) => url)).toEqual([path]);
  });

  test('comes with the headers, by lower-case name, repeated ones joined', async () => {
    const { baseUrl } = await services.http((response) => {
      response.writeHead(200, { ...json, 'Cache-Control': 'no-store', 'X-Twice': ['a', 'b'] });
      response.end('{"token":"t.o.k"}');
    });
    const { headers } = await ask({ baseUrl });
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-twice': 'a, b' });
  });

  test.each([
    ['epoch seconds', '1767323105'],
    ['epoch milliseconds', '1767323105000'],
    ['ISO 8601', '2026-01-02T03:05:05Z'],
    ['an HTTP date', 'Fri, 02 Jan 2026 03:05:05 GMT'],
    ['seconds from now', '60'],
  ])('comes with the rate limit, its reset read from %s', async (_format, reset) => {
    const { baseUrl } = await services.http((response) => {
      response.sendDate = false;
      response.writeHead(200, {
        ...json,
        'X-RateLimit-Limit': '60',
        'X-RateLimit-Remaining': '59',
        'x-ratelimit-reset': reset,
      });
      response.end('{"token":"t.o.k"}');
    });
    const { rateLimit } = await ask({ baseUrl, clock: createCountedClock(wallMs) });
    expect(rateLimit).toEqual({ limit: 60, remaining: 59, resetAtMs: wallMs + 60_000 });
  });

  test('comes with an empty rate limit if the headers are missing or unreadable', async () => {
    const { baseUrl } = await services.http((response) => {
      response.writeHead(200, { ...json, 'X-RateLimit-Limit': 'many', 'X-RateLimit-Reset': 'soon' });
      response.end('{"token":"t.o.k"}');
    });
    const { rateLimit } = await ask({ baseUrl });
    expect(rateLimit).toEqual({ limit: undefined, remaining: undefined, resetAtMs: undefined });
  });

  test('comes with the number of attempts and the duration, waits included', async () => {
    const clock = createCountedClock();
    const { baseUrl } = await services.http((response, _request, index) =>
      index < 2 ? response.writeHead(429).end() : grant(response),
    );
    const { options } = skippingWaits(clock, { baseUrl, retries: 4, random: () => 0 });
    const { timing } = await ask(options);
    expect(timing).toEqual({ attempts: 3, firstByteMs: 0, totalMs: 125 + 250 });
    expect(clock.pending).toEqual([]);
  });
});

test.each([' ', 'a b', ' t.o.k', 't.o.k\n', 't\u0000k', 't\u202ek', 't\u009bk'])(
  'a token that cannot be sent as it is violates the protocol and is not retried: %j',
  async (token) => {
    const { baseUrl, requests } = await services.http((response) =>
      response.writeHead(200, json).end(JSON.stringify({ token })),
    );
    const error = await failure({ baseUrl, retries: 3 });
    expect([error.code, error.exitCode]).toEqual(['protocol-violation', 6]);
    expect(error.message).toMatch(/^The token from \S+ contains white space or control characters$/);
    expect(requests).toHaveLength(1);
  },
);

describe('an answer from 200 without a token', () => {
  test.each([
    ['HTML', '<html>log in</html>'],
    ['nothing', ''],
    ['null', 'null'],
    ['an array', '[{"token":"t"}]'],
    ['an empty token', '{"token":""}'],
    ['a token that is a number', '{"token":1}'],
    ['a token under another name', '{"jwt":"t"}'],
    ['JSON that is cut', '{"token":"t'],
    ['more than 64 KiB', `{"token":"t","more":"${'x'.repeat(65_536)}"}`],
  ])('violates the protocol and is not retried: %s', async (_what, body) => {
    const { baseUrl, requests } = await services.http((response) => response.writeHead(200, json).end(body));
    const error = await failure({ baseUrl, retries: 3 });
    expect([error.code, error.exitCode]).toEqual(['protocol-violation', 6]);
    expect(requests).toHaveLength(1);
  });

  test.each(['{"token"', '{"token":"t.o.k"}'])(
    'violates the protocol and is not retried, because it cost the device a request: %s and the end',
    async (sent) => {
      const { baseUrl, requests } = await services.http((response) => {
        response.writeHead(200, { 'Content-Length': '100' });
        return response.write(sent, () => response.destroy());
      });
      const error = await failure({ baseUrl, retries: 3 });
      expect([error.code, error.exitCode]).toEqual(['protocol-violation', 6]);
      expect(error.message).toMatch(/^The answer from 127\.0\.0\.1:\d+ is cut off$/);
      expect(requests).toHaveLength(1);
    },
  );

  test('violates the protocol if it is not HTTP at all', async () => {
    const { port } = await services.tcp((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    const error = await failure({ baseUrl: `http://127.0.0.1:${port}`, retries: 3 });
    expect(error.code).toBe('protocol-violation');
  });
});

const bodies: [what: string, body: string, said: string][] = [
  [
    'the specification’s shape',
    '{"error":{"code":"BAD_KEY","message":"No such key"}}',
    'BAD_KEY: No such key',
  ],
  ['a flat error', '{"code":"BAD_KEY","message":"No such key"}', 'BAD_KEY: No such key'],
  ['a bare string', '{"error":"No such key"}', 'No such key'],
  ['a problem document', '{"title":"Unauthorized","detail":"No such key"}', 'No such key'],
  ['another shape', '{"errors":[{"loc":["body"]}]}', 'no reason given'],
  ['HTML', '<h1>Forbidden</h1>', 'no reason given'],
  ['nothing', '', 'no reason given'],
  ['JSON null', 'null', 'no reason given'],
  ['over 64 KiB of JSON', `{"error":{"code":"X","message":"${'x'.repeat(70_000)}"}}`, 'no reason given'],
  ['over a megabyte of anything', 'x'.repeat(1_200_000), 'no reason given'],
  ['a token all the same', '{"token":"t.o.k"}', 'no reason given'],
];

describe('an answer other than 200', () => {
  test.each([
    [201, '{}'],
    [202, '{"token":""}'],
    [204, ''],
  ])('is a refusal if it has no token: %i %s', async (status, body) => {
    const { baseUrl, requests } = await services.http((response) => response.writeHead(status).end(body));
    const error = await failure({ baseUrl, retries: 3 });
    expect([error.code, error.exitCode, error.details.status]).toEqual(['auth-refused', 3, status]);
    expect(requests).toHaveLength(1);
  });

  test.each(bodies)('is a refusal, whatever its body: %s', async (_what, body, said) => {
    const { baseUrl, requests } = await services.http((response) => response.writeHead(401).end(body));
    const error = await failure({ baseUrl, retries: 3 });
    expect([error.code, error.exitCode]).toEqual(['auth-refused', 3]);
    expect(error.message).toBe(`Token request refused (status 401): ${said}`);
    expect(requests).toHaveLength(1);
  });

  test.each([400, 401, 403, 404, 409, 413, 415, 422, 426, 431, 500, 502, 503, 504, 599])(
    'is a refusal that is not retried: %i',
    async (status) => {
      const { baseUrl, requests } = await services.http((response) => response.writeHead(status).end('{}'));
      const error = await failure({ baseUrl, retries: 3 });
      expect([error.code, error.details.status]).toEqual(['auth-refused', status]);
      expect(requests).toHaveLength(1);
    },
  );

  test('is a refusal even if its body is cut off', async () => {
    const { baseUrl, requests } = await services.http((response) => {
      response.writeHead(403, { 'Content-Length': '100' });
      response.write('{"error"', () => response.destroy());
    });
    expect((await failure({ baseUrl, retries: 3 })).code).toBe('auth-refused');
    expect(requests).toHaveLength(1);
  });

  test('is a refusal even if its body does not come, once the deadline is over', async () => {
    const clock = createCountedClock();
    const { baseUrl } = await services.http((response) => {
      response.writeHead(403, { 'Content-Length': '100' });
      response.write('{"error"');
    });
    // undici tells when the head has arrived: the status is known from then on.
    const onHead = () => setImmediate(() => clock.advance(15_000));
    subscribe('undici:request:headers', onHead);
    expect((await failure({ baseUrl, clock })).code).toBe('auth-refused');
    unsubscribe('undici:request:headers', onHead);
    expect(clock.pending).toEqual([]);
  });

  test('contains what the service said and the answer itself, for scripts', async () => {
    const { baseUrl } = await services.http((response) => response.writeHead(401).end(bodies[0]![1]));
    const { details } = await failure({ baseUrl });
    const { answer, ...said } = details;
    expect(said).toEqual({ status: 401, serviceCode: 'BAD_KEY', serviceMessage: 'No such key' });
    expect(answer).toMatchObject({ status: 401, body: bodies[0]![1] });
    expect(answer?.headers.map(([name]) => name)).toContain('Date');
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308, 300, 304])(
    'with status %i is refused, and the key is not posted again',
    async (status) => {
      const elsewhere = await services.tcp(() => {});
      const { baseUrl, requests } = await services.http((response) =>
        response.writeHead(status, { Location: `http://127.0.0.1:${elsewhere.port}/` }).end(),
      );
      const error = await failure({ baseUrl, retries: 3 });
      expect([error.code, error.exitCode]).toEqual(['redirected', 6]);
      expect(requests).toHaveLength(1);
      expect([elsewhere.sockets.length, elsewhere.bytes]).toEqual([0, 0]);
    },
  );
});

describe('a request that may be retried', () => {
  test.each(limitCodes)('is retried after status %i until it is granted', async (status) => {
    const clock = createCountedClock();
    const { baseUrl, requests } = await services.http((response, _request, index) =>
      index < 3 ? response.writeHead(status).end() : grant(response),
    );
    const { waits, options } = skippingWaits(clock, { baseUrl, retries: 3 });
    const startedAt = clock.now();
    const granted = await ask(options);
    const at = clock.now();
    expect(at).toBeGreaterThan(startedAt);
    expect(granted).toMatchObject({ token: 't.o.k', at, timing: { attempts: 4, totalMs: at - startedAt } });
    expect(requests).toHaveLength(4);
    expect(waits.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  test.each([
    [429, 0, 'rate-limited', 5],
    [429, 4, 'rate-limited', 5],
    [408, 2, 'auth-refused', 3],
  ] as const)('answered with %i is given up after %i retries', async (status, retries, code, exitCode) => {
    const clock = createCountedClock();
    const { baseUrl, requests } = await services.http((response) => response.writeHead(status).end());
    const { options } = skippingWaits(clock, { baseUrl, retries });
    const error = await failure(options);
    expect([error.code, error.exitCode]).toEqual([code, exitCode]);
    expect(requests).toHaveLength(1 + retries);
    expect(clock.pending).toEqual([]);
  });

  test.each([
    ['least', 0, [125, 250, 500, 1_000, 2_000, 4_000, 4_000]],
    ['most', 1, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000]],
  ])('waits at %s for a time that doubles up to a bound', async (_which, random, delays) => {
    const clock = createCountedClock();
    const { baseUrl } = await services.http((response) => response.writeHead(429).end());
    const { waits, options } = skippingWaits(clock, { baseUrl, retries: 7, random: () => random });
    await failure(options);
    expect(waits.map(({ delayMs }) => delayMs)).toEqual(delays);
  });

  test.each([
    ['Retry-After in seconds', { 'Retry-After': '7' }, 7_000],
    ['Retry-After as a date', { 'Retry-After': 'Fri, 02 Jan 2026 03:04:12 GMT' }, 7_000],
    ['the reset in epoch seconds', { 'X-RateLimit-Reset': String(wallMs / 1000 + 9) }, 9_000],
    ['the reset in ISO 8601', { 'X-RateLimit-Reset': '2026-01-02T03:04:14.500Z' }, 9_500],
    ['the later of both', { 'Retry-After': '3', 'X-RateLimit-Reset': '30' }, 30_000],
    ['the later of both', { 'Retry-After': '31', 'X-RateLimit-Reset': '30' }, 31_000],
  ])('is never retried sooner than the service says: %s', async (_what, headers, asked) => {
    const clock = createCountedClock(wallMs);
    const { baseUrl, requests } = await services.http((response, _request, index) => {
      response.sendDate = false;
      return index === 0 ? response.writeHead(429, headers).end() : grant(response);
    });
    let delay = 0;
    const asking = ask({ baseUrl, clock, retries: 1, onRetry: ({ delayMs }) => (delay = delayMs) });
    await clock.timer(15_000);
    await expect.poll(() => delay).toBeGreaterThanOrEqual(asked);
    expect(delay).toBeLessThanOrEqual(asked + 50);
    await clock.run(asked - 1, 1_000);
    expect([requests.length, clock.pending]).toEqual([1, [delay]]);
    clock.advance(51);
    await asking;
    expect(requests).toHaveLength(2);
  });

  test('counts a reset from the service’s own time if our clock is an hour behind', async () => {
    const clock = createCountedClock(wallMs - 3_600_000);
    const { baseUrl } = await services.http((response, _request, index) => {
      const headers = {
        Date: 'Fri, 02 Jan 2026 03:04:05 GMT',
        'X-RateLimit-Reset': String(wallMs / 1000 + 20),
      };
      return index === 0 ? response.writeHead(429, headers).end() : grant(response);
    });
    const { waits, options } = skippingWaits(clock, { baseUrl, retries: 1, random: () => 0 });
    await ask(options);
    expect(waits.map(({ delayMs }) => delayMs)).toEqual([20_000]);
  });

  test('is given up at once if the service wants more than 120 s of patience', async () => {
    const clock = createCountedClock();
    const { baseUrl, requests } = await services.http((response) =>
      response.writeHead(429, { 'Retry-After': '121' }).end(),
    );
    const error = await failure({ baseUrl, clock, retries: 4 });
    expect([error.code, error.hint]).toEqual(['rate-limited', 'Try again in 121 s.']);
    expect(requests).toHaveLength(1);
    expect(clock.pending).toEqual([]);
  });

  test.each([
    ['Fri, 31 Dec 9999 23:59:59 GMT', 'Try again at 9999-12-31T23:59:59.000Z.'],
    ['9'.repeat(15), expect.stringMatching(/^Try again at .*Z\.$/)],
  ])('is given up with the time, if that is far away: %s', async (after, hint) => {
    const { baseUrl } = await services.http((response) =>
      response.writeHead(429, { 'Retry-After': after }).end(),
    );
    const error = await failure({ baseUrl, clock: createCountedClock(), retries: 4 });
    expect(error).toMatchObject({ code: 'rate-limited', hint });
  });

  test('ignores a Retry-After that cannot be read or is over', async () => {
    const clock = createCountedClock(wallMs);
    const { baseUrl } = await services.http((response, _request, index) => {
      response.sendDate = false;
      const headers = { 'Retry-After': index === 0 ? 'later' : 'Thu, 01 Jan 2026 00:00:00 GMT' };
      return index < 2 ? response.writeHead(429, headers).end() : grant(response);
    });
    const { waits, options } = skippingWaits(clock, { baseUrl, retries: 2, random: () => 0 });
    await ask(options);
    expect(waits.map(({ delayMs }) => delayMs)).toEqual([125, 250]);
  });
});

describe('a service that cannot be reached', () => {
  test('is retried, then given up, when it refuses the connection', async () => {
    const clock = createCountedClock();
    const baseUrl = `http://127.0.0.1:${await services.unusedPort()}`;
    const { waits, options } = skippingWaits(clock, { baseUrl, retries: 2 });
    const error = await failure(options);
    expect([error.code, error.exitCode]).toEqual(['connect-failed', 4]);
    expect(error.message).toContain('connection refused');
    expect(waits).toHaveLength(2);
  });

  test('is retried, then given up, when its name is unknown', async () => {
    const clock = createCountedClock();
    const { waits, options } = skippingWaits(clock, { baseUrl: 'http://voice.invalid', retries: 2 });
    const error = await failure(options);
    expect([error.code, error.exitCode]).toEqual(['connect-failed', 4]);
    expect(error.message).toMatch(/host name (not found|could not be looked up)/);
    expect(waits).toHaveLength(2);
  });

  test.each([
    ['resets the connection', (socket: { resetAndDestroy(): unknown }) => socket.resetAndDestroy()],
    ['closes the connection without an answer', (socket: { end(): unknown }) => socket.end()],
  ])('is retried, then given up, when it %s', async (_how, hangUp) => {
    const clock = createCountedClock();
    const service = await services.tcp((socket) => socket.once('data', () => hangUp(socket)));
    const { options } = skippingWaits(clock, { baseUrl: `http://127.0.0.1:${service.port}`, retries: 2 });
    expect((await failure(options)).code).toBe('connect-failed');
    expect(service.sockets).toHaveLength(3);
  });
});

describe('a service that does not answer', () => {
  const silences: [string, (response: ServerResponse) => void][] = [
    ['sends nothing', () => {}],
    [
      'sends a head and no body',
      (response) => {
        response.writeHead(200, json);
        response.flushHeaders();
      },
    ],
  ];
  test.each(silences)('times out after 15 s and is not asked again: it %s', async (_what, silence) => {
    const clock = createCountedClock();
    const { baseUrl, requests } = await services.http(silence);
    const failing = failure({ baseUrl, clock, retries: 3 });
    await expect.poll(() => requests.length).toBe(1);
    clock.advance(14_999);
    expect(clock.pending).toEqual([15_000]);
    clock.advance(1);
    const error = await failing;
    expect([error.code, error.exitCode]).toEqual(['timed-out', 7]);
    expect(requests).toHaveLength(1);
    expect(clock.pending).toEqual([]);
  });

  test('times out even if it sends a byte now and then', async () => {
    const clock = createCountedClock();
    const { baseUrl } = await services.http((response) => {
      response.writeHead(200, json);
      const drip = () => {
        if (response.destroyed) return;
        clock.advance(100);
        response.write(' ', () => setImmediate(drip));
      };
      drip();
    });
    expect((await failure({ baseUrl, clock })).code).toBe('timed-out');
  });
});

describe('a request that is abandoned', () => {
  const reason = new VoicectlError('interrupted', 'Interrupted');

  test('is not even begun if the signal was aborted before', async () => {
    const { baseUrl, requests } = await services.http(grant);
    await expect(ask({ baseUrl, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(requests).toEqual([]);
  });

  test.each([
    ['before the answer', () => {}],
    ['within the answer', (response: ServerResponse) => void response.writeHead(200).write('{"to')],
    [
      'within the body of a refusal',
      (response: ServerResponse) => void response.writeHead(401).write('{"er'),
    ],
  ])('rejects with the signal’s reason and closes the connection: %s', async (_when, begin) => {
    const ending = new AbortController();
    const clock = createCountedClock();
    let hungUp = false;
    const { baseUrl } = await services.http((response) => {
      response.on('close', () => {
        hungUp = true;
      });
      begin(response);
      setImmediate(() => ending.abort(reason));
    });
    await expect(ask({ baseUrl, clock, retries: 3, signal: ending.signal })).rejects.toBe(reason);
    await expect.poll(() => hungUp).toBe(true);
    expect(clock.pending).toEqual([]);
  });

  test('rejects with the signal’s reason during the wait before a retry', async () => {
    const ending = new AbortController();
    const clock = createCountedClock();
    const { baseUrl, requests } = await services.http((response) => response.writeHead(429).end());
    const onRetry = () => setImmediate(() => ending.abort(reason));
    await expect(ask({ baseUrl, clock, retries: 3, onRetry, signal: ending.signal })).rejects.toBe(reason);
    expect(requests).toHaveLength(1);
    expect(clock.pending).toEqual([]);
  });
});
