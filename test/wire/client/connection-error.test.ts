import { describe, expect, test } from 'vitest';
import { connectionError } from '../../../src/wire/client/connection-error.ts';

const withCode = (code: string) => Object.assign(new Error('as the system says it'), { code });

describe('a failure to connect', () => {
  test.each([
    ['ECONNREFUSED', 'connection refused'],
    ['ECONNRESET', 'connection reset'],
    ['ENOTFOUND', 'host name not found'],
    ['EAI_AGAIN', 'host name could not be looked up'],
    ['ETIMEDOUT', 'no answer'],
    ['UND_ERR_CONNECT_TIMEOUT', 'no answer'],
    ['EHOSTUNREACH', 'host unreachable'],
    ['ENETUNREACH', 'network unreachable'],
    ['UND_ERR_SOCKET', 'connection closed before an answer'],
    ['EMFILE', 'this process has too many files and connections open'],
    ['ENFILE', 'this machine has too many files and connections open'],
    ['EOTHER', 'as the system says it'],
  ])('with %s is reported as "%s", and may be retried', (code, why) => {
    const error = connectionError(withCode(code), 'voice.test');
    expect(error).toMatchObject({ code: 'connect-failed', retryable: true });
    expect(error.message).toBe(`Cannot connect to voice.test: ${why}`);
  });

  test.each([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'CERT_HAS_EXPIRED',
    'CRL_HAS_EXPIRED',
    'INVALID_PURPOSE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'EPROTO',
  ])('with %s is a TLS failure, which is not retried', (code) => {
    expect(connectionError(withCode(code), 'voice.test')).toMatchObject({
      code: 'tls-failed',
      retryable: false,
    });
  });

  test.each([
    withCode('ERR_SSL_WRONG_VERSION_NUMBER'),
    Object.assign(new Error('write EPROTO 1:error:0A00010B:SSL routines::wrong version number'), {
      code: 'EPROTO',
    }),
  ])('to a port without TLS is not put down to the certificate: %s', (thrown) => {
    expect(connectionError(thrown, 'voice.test').hint).toContain('use http:// and ws://');
  });

  test('is explained by the first of several addresses, or by the cause of an error that says nothing', () => {
    const bundle = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]);
    expect(connectionError(bundle, 'h').message).toContain('connection refused');
    const wrapped = new Error('fetch failed', { cause: withCode('ENOTFOUND') });
    expect(connectionError(wrapped, 'h').message).toContain('host name not found');
  });

  test.each(['a string', undefined, null, 7])(
    'that is not an error at all is reported as it is: %s',
    (thrown) => {
      expect(connectionError(thrown, 'h').message).toBe(`Cannot connect to h: ${thrown}`);
    },
  );

  test('names what to start if nobody listens', () => {
    expect(connectionError(withCode('ECONNREFUSED'), 'h').hint).toBe(
      'Is the service running? `voicectl serve` starts a local one; many commands run one themselves with --local.',
    );
  });
});
