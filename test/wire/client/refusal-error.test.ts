import { describe, expect, test } from 'vitest';
import { closeError, ServiceErrors, upgradeError } from '../../../src/wire/client/refusal-error.ts';

const nothing = { code: undefined, message: undefined };

const answered = (status: number) => ({ status, headers: [], body: '', firstByteMs: 1 });

describe('an upgrade that is refused', () => {
  test.each([
    [301, 'redirected', 6],
    [307, 'redirected', 6],
    [401, 'stream-refused', 3],
    [403, 'stream-refused', 3],
    [429, 'too-many-connections', 5],
    [200, 'handshake-failed', 4],
    [400, 'handshake-failed', 4],
    [404, 'handshake-failed', 4],
    [426, 'handshake-failed', 4],
    [500, 'handshake-failed', 4],
    [503, 'handshake-failed', 4],
  ] as const)('with status %i is %s, exit code %i', (status, code, exitCode) => {
    const error = upgradeError(answered(status), 'ws://voice.test/x', nothing);
    expect(error).toMatchObject({ code, exitCode, details: { status } });
    expect(error.message).toContain(`status ${status}`);
  });

  test.each([401, 429, 503, 307])('with status %i is reported with what the service said', (status) => {
    const error = upgradeError(answered(status), 'ws://voice.test/x', {
      code: 'FULL',
      message: 'Come back later',
    });
    expect(error.message).toContain(`status ${status}, FULL: Come back later`);
    expect(error.details).toMatchObject({ serviceCode: 'FULL', serviceMessage: 'Come back later' });
  });
});

describe('a close before the token was accepted', () => {
  const limit = { code: 'CONNECTION_LIMIT', message: 'Ten at most' };
  const bad = { code: 'TOKEN_EXPIRED', message: 'The token has expired' };

  test.each([
    // The service has judged the token.
    [1000, '', undefined, 'stream-refused', 3],
    [1003, '', undefined, 'stream-refused', 3],
    [1005, '', undefined, 'stream-refused', 3],
    [1005, '', bad, 'stream-refused', 3],
    [1007, '', undefined, 'stream-refused', 3],
    [1008, 'policy', undefined, 'stream-refused', 3],
    [1011, '', bad, 'stream-refused', 3],
    [3000, '', undefined, 'stream-refused', 3],
    [4000, '', undefined, 'stream-refused', 3],
    [4401, 'expired', undefined, 'stream-refused', 3],
    [4408, 'no token in time', undefined, 'stream-refused', 3],
    // There is a limit, by any of the signs.
    [4429, '', undefined, 'too-many-connections', 5],
    [1008, 'Too many connections', undefined, 'too-many-connections', 5],
    [1013, 'connection limit reached', undefined, 'too-many-connections', 5],
    [1008, '', limit, 'too-many-connections', 5],
    [1000, '', { code: 'LIMIT', message: undefined }, 'too-many-connections', 5],
    [1000, '', { code: 'FULL', message: 'Max connections: 10' }, 'too-many-connections', 5],
    [4000, 'concurrency', undefined, 'too-many-connections', 5],
    // Something else was said.
    [1000, '', { code: 'QUOTA_EXCEEDED', message: 'The monthly minutes are used up' }, 'service-error', 6],
    [1000, '', { code: 'MESSAGE_TOO_LARGE', message: 'size limit exceeded' }, 'service-error', 6],
    [1011, '', { code: 'INTERNAL_ERROR', message: 'oops' }, 'service-error', 6],
    [4401, '', { code: 'INTERNAL_ERROR', message: 'oops' }, 'stream-refused', 3],
    // Nothing was said of the token.
    [1001, 'restart', undefined, 'stream-broken', 6],
    [1002, '', undefined, 'stream-broken', 6],
    [1006, '', undefined, 'stream-broken', 6],
    [1009, '', undefined, 'stream-broken', 6],
    [1011, 'oops', undefined, 'stream-broken', 6],
    [1012, '', undefined, 'stream-broken', 6],
    [1013, '', undefined, 'stream-broken', 6],
  ] as const)('with %i "%s" and the error %o is %s, exit code %i', (code, reason, said, name, exitCode) => {
    const error = closeError({ code, reason }, said, 'authorising');
    expect(error).toMatchObject({ code: name, exitCode });
    expect(error.details).toMatchObject({ closeCode: code, closeReason: reason });
  });
});

test('a reason that repeats the message of the error before it is reported once', () => {
  const text = 'No more streams';
  const error = closeError({ code: 4429, reason: text }, { code: 'LIMIT', message: text }, 'authorising');
  expect(error.message).toBe(
    'Too many connections for this device: close 4429 application: No more streams, LIMIT',
  );
  expect(error.details).toMatchObject({ closeReason: text, serviceMessage: text });
});

describe('a close in the middle of the conversation', () => {
  test.each([
    [1001, undefined, 'stream-broken'],
    [1006, undefined, 'stream-broken'],
    [1011, undefined, 'stream-broken'],
    [4000, undefined, 'stream-broken'],
    [4429, undefined, 'stream-broken'],
    [1000, { code: 'MODEL', message: 'gone' }, 'service-error'],
    [1011, { code: 'MODEL', message: 'gone' }, 'service-error'],
    [1006, { code: 'MODEL', message: 'gone' }, 'stream-broken'],
  ] as const)('with %i after the error %o is %s', (code, said, name) => {
    expect(closeError({ code, reason: '' }, said, 'live')).toMatchObject({ code: name, exitCode: 6 });
  });

  test('is reported with its code, its name, its reason and the error before it', () => {
    const error = closeError({ code: 1011, reason: 'bye' }, { code: 'MODEL', message: 'gone' }, 'live');
    expect(error.message).toBe('The service ended the stream: close 1011 internal error: bye, MODEL: gone');
  });
});

describe('the errors of a service', () => {
  const said = (code: string) => ({ error: { code, message: undefined } });
  const plain = { code: 1000, reason: '' };

  test('an error just before a normal close is why the stream ended', () => {
    const errors = new ServiceErrors();
    errors.heard(said('FULL'));
    expect(errors.endError(plain)?.details).toMatchObject({ serviceCode: 'FULL' });
  });

  test.each([
    ['audio', (errors: ServiceErrors) => errors.heardAudio()],
    ['another message', (errors: ServiceErrors) => errors.heard({})],
  ])('an error before %s does not make a normal close an error', (_, go) => {
    const errors = new ServiceErrors();
    errors.heard(said('BUSY'));
    go(errors);
    expect(errors.endError(plain)).toBeUndefined();
  });

  test('the last error is why a stream was not confirmed, whatever followed', () => {
    const errors = new ServiceErrors();
    for (const code of ['BUSY', 'EXPIRED']) errors.heard(said(code));
    errors.heard({});
    errors.heardAudio();
    expect(errors.unconfirmedError('Not in time').details).toMatchObject({ serviceCode: 'EXPIRED' });
  });
});
