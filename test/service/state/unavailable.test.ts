import { expect, test } from 'vitest';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { isUnavailable, unavailable } from '../../../src/service/state/unavailable.ts';

test('a state that is away is an error to try again after, with what was behind it', () => {
  const cause = new Error('ECONNREFUSED');
  const away = unavailable('Redis is away', cause);
  expect(away).toMatchObject({ code: 'connect-failed', message: 'Redis is away', retryable: true, cause });
  expect(isUnavailable(away)).toBe(true);
});

test.each([
  new VoicectlError('internal', 'a bug'),
  Object.assign(new Error('another library says so'), { code: 'connect-failed' }),
  undefined,
])('anything else is something else', (thrown) => {
  expect(isUnavailable(thrown)).toBe(false);
});
