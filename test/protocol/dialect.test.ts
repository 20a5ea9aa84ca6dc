import { describe, expect, test } from 'vitest';
import {
  type Dialect,
  defaultDialect,
  isSigningAlgorithm,
  isSymmetric,
  parseDialect,
} from '../../src/protocol/dialect.ts';

const pem = '-----BEGIN PRIVATE KEY-----';
const secret = 'a secret that nobody may see in a message';

describe('defaults', () => {
  const dialect = defaultDialect();

  test('an empty object is a complete dialect', () => {
    expect(parseDialect({})).toEqual({ ok: true, dialect });
  });

  test('one setting leaves all others at their defaults', () => {
    const parsed = parseDialect({ stream: { closes: { shutdown: { close: 1012 } } } });
    const expected: Dialect = structuredClone(dialect);
    expected.stream.closes.shutdown.close = 1012;
    expect(parsed).toEqual({ ok: true, dialect: expected });
  });

  test('two dialects share nothing', () => {
    const other = defaultDialect();
    other.stream.closes.shutdown.close = 1012;
    expect(defaultDialect().stream.closes.shutdown.close).toBe(1001);
  });

  test('HTTP errors', () => {
    const statuses = Object.entries(dialect.refusals).map(([cause, { status }]) => [cause, status]);
    expect(Object.fromEntries(statuses)).toEqual({
      invalidRequest: 400,
      unauthorized: 401,
      forbidden: 403,
      notFound: 404,
      methodNotAllowed: 405,
      requestTimeout: 408,
      bodyTooLarge: 413,
      unsupportedMediaType: 415,
      upgradeRequired: 426,
      rateLimited: 429,
      tooManyConnections: 429,
      headersTooLarge: 431,
      unavailable: 503,
    });
  });

  test('closes', () => {
    const codes = Object.entries(dialect.stream.closes).map(([cause, { close }]) => [cause, close]);
    expect(Object.fromEntries(codes)).toEqual({
      tokenTimeout: 4408,
      tokenInvalid: 4401,
      tokenExpired: 4401,
      tokenReused: 4401,
      tooManyConnections: 4429,
      earlyAudioOverflow: 1008,
      unexpectedText: 1008,
      oddBytes: 1007,
      evicted: 4429,
      unavailable: 1013,
      idle: 4408,
      sessionTooLong: 1000,
      sessionExpired: 4401,
      slowReader: 1013,
      shutdown: 1001,
    });
  });

  test('every cause says in words and in a code what happened', () => {
    for (const { code, message, reason } of Object.values(dialect.stream.closes)) {
      expect([code, message, reason]).not.toContain('');
    }
    const { invalidRequest, ...refusals } = dialect.refusals;
    expect(invalidRequest).toEqual({ status: 400, statuses: {} });
    for (const { code, message } of Object.values(refusals)) expect([code, message]).not.toContain('');
  });

  test('the rest', () => {
    expect(dialect.token).toEqual({
      algorithm: 'HS256',
      issuer: 'voicectl-emulator',
      header: {},
      extraClaims: {},
      jti: true,
      singleUse: true,
      clockToleranceSeconds: 0,
    });
    expect(dialect.rateLimit).toEqual({
      window: 'first-request',
      counts: 'accepted',
      countsInvalid: false,
      resetFormat: 'seconds',
      headersOn: 'all',
      headersOnInvalid: false,
      retryAfter: 'seconds',
    });
    expect(dialect.stream).toMatchObject({
      kindField: 'type',
      errorBeforeClose: true,
      tokenDeadlineMs: 5_000,
      maxMessageBytes: 1_048_576,
      replyFrameMs: 20,
      oddBytes: 'carry',
      textAfterToken: 'error',
      expiryDuringStream: 'continue',
    });
  });
});

describe('a wrong value', () => {
  test.each([
    ['no object', 'dialect', '(root)', '(hidden)', 'object'],
    ['null', null, '(root)', null, 'object'],
    ['a list', [], '(root)', '(a list)', 'object'],
    ['a number for a section', { stream: 5 }, 'stream', 5, 'object'],
    ['an unknown section', { limits: {} }, 'limits', '(hidden)', 'no such setting'],
    ['an unknown setting', { stream: { kindFeild: 'x' } }, 'stream.kindFeild', '(hidden)', 'no such setting'],
    ['a text for a number', { stream: { tokenDeadlineMs: '5s' } }, 'stream.tokenDeadlineMs', '5s', 'number'],
    ['a fraction', { stream: { replyFrameMs: 12.5 } }, 'stream.replyFrameMs', 12.5, 'int'],
    ['too small', { stream: { replyFrameMs: 1 } }, 'stream.replyFrameMs', 1, 'number to be >=5'],
    ['too large', { stream: { replyFrameMs: 9999 } }, 'stream.replyFrameMs', 9999, 'number to be <=1000'],
    ['an empty text', { stream: { kindField: '' } }, 'stream.kindField', '', 'string to have >=1 characters'],
    ['a text for a yes or no', { token: { singleUse: 'no' } }, 'token.singleUse', 'no', 'boolean'],
    [
      'another choice',
      { rateLimit: { window: 'fixed' } },
      'rateLimit.window',
      'fixed',
      'one of "first-request", "sliding", "token-bucket", "calendar-minute"',
    ],
    ['a success', { refusals: { notFound: { status: 200 } } }, 'refusals.notFound.status', 200, /400/],
    [
      'a close code that cannot be sent',
      { stream: { closes: { shutdown: { close: 1015 } } } },
      'stream.closes.shutdown.close',
      1015,
      /^a close code that may be sent/,
    ],
    [
      'a reason that is too long',
      { stream: { closes: { shutdown: { reason: 'é'.repeat(62) } } } },
      'stream.closes.shutdown.reason',
      'é'.repeat(62),
      'at most 123 bytes',
    ],
    [
      'a claim that is not open',
      { token: { extraClaims: { sub: 'x' } } },
      'token.extraClaims',
      '(an object)',
      /^claims other than sub, /,
    ],
    [
      'a claim that is not open, beside one that is',
      { token: { extraClaims: { role: 'x', sub: 'x' } } },
      'token.extraClaims',
      '(an object)',
      /^claims other than sub, /,
    ],
    [
      'an algorithm in the header of the token',
      { token: { header: { alg: 'HS512', kid: 'k' } } },
      'token.header',
      '(an object)',
      /^fields other than alg/,
    ],
    [
      'a message with an unknown template',
      { stream: { greeting: [{ at: { $time: true } }] } },
      'stream.greeting.0',
      '(an object)',
      /^one of the templates \$uuid, /,
    ],
    [
      'a state in the field of the kind',
      { stream: { status: { stateField: 'type' } } },
      'stream.status.stateField',
      'type',
      'a field other than kindField: it holds the kind',
    ],
    [
      'a kind in the field of a nested error',
      { stream: { kindField: 'error' } },
      'stream.kindField',
      'error',
      'a field that a nested error does not have: it holds the kind',
    ],
    [
      'a kind in a field of a flat error',
      { stream: { kindField: 'code', error: { shape: 'flat' } } },
      'stream.kindField',
      'code',
      'a field that a flat error does not have: it holds the kind',
    ],
    ['no JSON', { token: { header: { kid: 1n } } }, 'token.header.kid', 1n, /./],
  ])('that is %s is reported with path, value and expectation', (_name, input, path, value, expected) => {
    const parsed = parseDialect(input);
    expect(parsed).toEqual({
      ok: false,
      problems: [
        { path, value, expected: expected instanceof RegExp ? expect.stringMatching(expected) : expected },
      ],
    });
  });

  test('does not hide another one', () => {
    const parsed = parseDialect({ stream: { kindField: 1, oddBytes: 'x' }, rateLimit: { counts: 0 } });
    expect(parsed).toMatchObject({ ok: false, problems: { length: 3 } });
  });

  test('a field of an error is free in the other shape', () => {
    expect(parseDialect({ stream: { kindField: 'code' } }).ok).toBe(true);
    expect(parseDialect({ stream: { kindField: 'error', error: { shape: 'flat' } } }).ok).toBe(true);
  });

  test('"none" is not an algorithm', () => {
    expect(parseDialect({ token: { algorithm: 'none' } })).toHaveProperty('ok', false);
  });
});

test.each([
  ['a secret that is too short', { token: { secret: 'short-canary' } }],
  ['a secret of another type', { token: { secret: ['canary'] } }],
  ['a key in another form', { token: { privateKey: `-----BEGIN RSA ${secret}` } }],
  ['a misspelt secret', { token: { sercet: secret } }],
  ['a secret outside its section', { secret }],
  ['a key outside its section', { stream: { privateKey: pem + secret } }],
  ['a secret in place of its section', { token: secret }],
  ['a secret in place of the dialect', secret],
  ['a section in a list', { token: [{ secret }] }],
  ['a dialect in a list', [{ token: { secret } }]],
])('%s is refused without being shown', (_name, input) => {
  const parsed = parseDialect(input);
  const problems = parsed.ok ? [] : parsed.problems;
  expect(problems).not.toEqual([]);
  for (const { value } of problems) expect(value).toMatch(/^\(.*\)$/);
  expect(JSON.stringify(parsed)).not.toMatch(/canary|nobody may see/);
});

test.each([
  ['HS256', true],
  ['HS512', true],
  ['RS256', false],
  ['EdDSA', false],
] as const)('%s has one shared secret: %s', (algorithm, expected) => {
  expect(isSymmetric(algorithm)).toBe(expected);
});

test.each(['HS256', 'RS256', 'EdDSA'])('%s signs tokens', (alg) => {
  expect(isSigningAlgorithm(alg)).toBe(true);
});

test.each(['none', 'hs256', '', undefined, 256])('%j signs no tokens', (alg) => {
  expect(isSigningAlgorithm(alg)).toBe(false);
});
