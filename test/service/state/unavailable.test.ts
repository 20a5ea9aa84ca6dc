import { expect, test } from 'vitest';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { isUnavailable, unavailable } from '../../../src/service/state/unavailable.ts';

test('an unavailable state is a retryable error with its cause', () => {
  const cause = new Error('ECONNREFUSED');
  const away = unavailable('Redis is away', cause);
  expect(away).toMatchObject({ code: 'connect-failed', message: 'Redis is away', retryable: true, cause });
  expect(isUnavailable(away)).toBe(true);
});

test.each([
  new VoicectlError('internal', 'a bug'),
  Object.assign(new Error('another library says so'), { code: 'connect-failed' }),
  undefined,
])('any other error is not', (thrown) => {
  expect(isUnavailable(thrown)).toBe(false);
});
