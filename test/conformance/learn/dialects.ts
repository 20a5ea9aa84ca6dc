import fc from 'fast-check';
import type { DialectInput } from '../../../src/protocol/dialect.ts';

const text = fc.string({ minLength: 1, maxLength: 20 });
const status = fc.constantFrom(400, 404, 409, 418, 422);
const code = fc.stringMatching(/^[A-Z][A-Z_]{2,12}$/);

const answer = (statuses: number[]) =>
  fc.record({ status: fc.constantFrom(...statuses), code, message: text });
const close = fc.record({
  close: fc.oneof(fc.constantFrom(1000, 1005, 1006, 1008, 1011), fc.integer({ min: 4000, max: 4999 })),
  reason: fc.string({ maxLength: 20 }),
  code,
  message: text,
});

const values = fc.constantFrom<unknown>(
  { $uuid: true },
  { $device: true },
  { $now: 'iso8601' },
  { $now: 'seconds' },
  { $now: 'milliseconds' },
  true,
  'on',
  48_000,
  null,
  ['pcm', 16],
  { rate: 16_000, id: { $uuid: true } },
);
const isDevice = (value: unknown) => typeof value === 'object' && value !== null && '$device' in value;
const fields = fc.dictionary(fc.constantFrom('a1', 'b2', 'c3'), values, { maxKeys: 3 });
/** Where no token has been accepted yet, no device is known. */
const early = fc.dictionary(
  fc.constantFrom('a1', 'b2', 'c3'),
  values.filter((value) => !isDevice(value)),
  { maxKeys: 3 },
);
const messages = (kinds: string[], more = fields) =>
  fc.array(
    fc.tuple(fc.constantFrom(...kinds), more).map(([about, more]) => ({ about, ...more })),
    { maxLength: 2 },
  );

const token = fc.record({
  algorithm: fc.constantFrom('HS256', 'HS512', 'ES256', 'EdDSA'),
  issuer: text,
  header: fc.constantFrom({}, { kid: 'key-1' }),
  extraClaims: fc.constantFrom({}, { scope: 'voice' }, { tier: 2, region: ['eu'] }),
  jti: fc.boolean(),
  singleUse: fc.boolean(),
  clockToleranceSeconds: fc.constantFrom(0, 5, 10, 30, 60),
});

const refusals = fc.record({
  invalidRequest: fc.record({
    status,
    statuses: fc.dictionary(
      fc.constantFrom(
        'missingApiKey',
        'missingDeviceId',
        'invalidJson',
        'emptyApiKey',
        'emptyDeviceId',
        'wrongType',
      ),
      status,
      { maxKeys: 2 },
    ),
  }),
  unauthorized: answer([400, 401, 403]),
  notFound: answer([404, 410]),
  methodNotAllowed: answer([405, 404]),
  upgradeRequired: answer([426, 400]),
  rateLimited: answer([429, 420]),
});

const rateLimit = fc.record({
  window: fc.constantFrom('first-request', 'sliding', 'token-bucket', 'calendar-minute'),
  countsInvalid: fc.boolean(),
  resetFormat: fc.constantFrom('seconds', 'milliseconds', 'iso8601', 'http-date', 'delta'),
  headersOn: fc.constantFrom('all', 'success', 'limited'),
  headersOnInvalid: fc.boolean(),
  retryAfter: fc.constantFrom('seconds', 'http-date', 'none'),
});

const status2 = fc
  .record({
    send: fc.boolean(),
    kind: fc.constantFrom('status', 'state.changed'),
    isKinds: fc.boolean(),
    stateField: fc.constantFrom('status', 'now'),
    states: fc.record({
      listening: fc.constantFrom('listening', 'ear'),
      speaking: fc.constantFrom('speaking', 'mouth'),
    }),
    fields,
  })
  .map(({ isKinds, stateField, ...status }) =>
    isKinds ? { ...status, kinds: { speaking: 'now.speaking' }, stateField: '' } : { ...status, stateField },
  );

const stream = fc.record({
  kindField: fc.constantFrom('type', 'kind', 'event', 'name', '@type'),
  greeting: messages(['hello', 'motd'], early),
  connected: fc.record({ fields, before: messages(['queue']), after: messages(['limits', 'tip']) }),
  status: status2,
  error: fc.record({
    kind: fc.constantFrom('error', 'failure', 'session.error'),
    shape: fc.constantFrom('nested', 'flat'),
    fields: early,
  }),
  errorBeforeClose: fc.boolean(),
  binaryToken: fc.constantFrom('audio', 'accept', 'refuse'),
  // A limit by address counts the streams that stay open meanwhile: examples/dialects/gateway.yaml has it.
  connectionLimit: fc.constantFrom('refuse', 'evict-oldest'),
  tokenDeadlineMs: fc.integer({ min: 1, max: 9 }).map((seconds) => seconds * 1000),
  earlyAudioBytes: fc.constantFrom(0, 262_144),
  replyFrameMs: fc.constantFrom(20, 40, 60, 100),
  oddBytes: fc.constantFrom('carry', 'close'),
  textAfterToken: fc.constantFrom('error', 'ignore', 'close'),
  expiryDuringStream: fc.constantFrom('continue', 'close'),
  closes: fc.dictionary(
    fc.constantFrom(
      'tokenTimeout',
      'tokenInvalid',
      'tokenExpired',
      'tokenReused',
      'tooManyConnections',
      'evicted',
      'unexpectedText',
      'oddBytes',
      'sessionExpired',
    ),
    close,
    { maxKeys: 4 },
  ),
});

/** Dialects in which every setting that can be probed is any of its values. */
export const anyDialect = fc.record({ token, refusals, rateLimit, stream }) as fc.Arbitrary<DialectInput>;
