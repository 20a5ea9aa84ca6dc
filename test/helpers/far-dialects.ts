import type { DialectInput } from '../../src/protocol/dialect.ts';

/**
 * Dialects far from the default and from one another: whatever is chosen of the open questions, the sentences of
 * the specification hold. What goes beyond them is not among these: claims of its own, a reset that is not a
 * timestamp, no rate-limit headers on a success.
 */
export const farDialects: Record<string, DialectInput> = {
  'with the default dialect': {},
  'with RS256, the kind under event, flat errors and a reset in milliseconds': {
    token: { algorithm: 'RS256', issuer: 'https://issuer.example/', header: { kid: 'key-1' } },
    refusals: { invalidRequest: { status: 422 }, rateLimited: { status: 503, code: 'slow_down' } },
    rateLimit: { resetFormat: 'milliseconds', retryAfter: 'http-date' },
    stream: { kindField: 'event', error: { kind: 'failure', shape: 'flat' }, errorBeforeClose: false },
  },
  'with ES384, the kind under name, ISO 8601 and a sliding window in which all requests count': {
    token: { algorithm: 'ES384', singleUse: false, clockToleranceSeconds: 30 },
    refusals: { invalidRequest: { status: 500 }, rateLimited: { status: 400, code: 'E42', message: 'no' } },
    rateLimit: { window: 'sliding', counts: 'all', resetFormat: 'iso8601', headersOn: 'success' },
    stream: {
      kindField: 'name',
      connected: { fields: { session: { id: 7, type: 'status' }, audio: [16_000, 16, 1] } },
      oddBytes: 'close',
      textAfterToken: 'close',
    },
  },
  'with EdDSA, the kind under @type, HTTP dates and no status messages': {
    token: { algorithm: 'EdDSA', issuer: 'Stimme & Söhne' },
    refusals: { invalidRequest: { status: 418 }, rateLimited: { status: 403, code: 'QUOTA' } },
    rateLimit: { resetFormat: 'http-date', retryAfter: 'none' },
    stream: { kindField: '@type', status: { send: false }, replyFrameMs: 60, oddBytes: 'drop' },
  },
  'with HS512, a status kind of its own and little patience': {
    token: { algorithm: 'HS512', secret: 'a secret of at least thirty-two characters' },
    refusals: { invalidRequest: { status: 599 }, rateLimited: { status: 429, code: '1015' } },
    stream: {
      kindField: 'kind',
      status: { kind: 'state', stateField: 'now', states: { listening: 'ear', speaking: 'mouth' } },
      textAfterToken: 'ignore',
      expiryDuringStream: 'close',
      earlyAudioBytes: 0,
      maxMessageBytes: 4_096,
    },
  },
};
