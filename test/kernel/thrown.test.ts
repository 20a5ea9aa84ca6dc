import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { systemCode } from '../../src/files/refusal.ts';
import { isError, messageOf } from '../../src/kernel/thrown.ts';

const foreign: unknown = runInNewContext(`Object.assign(new TypeError('no'), { code: 'ENOENT' })`);

test('an error of another realm, as Jest has them, is an error', () => {
  expect(foreign).not.toBeInstanceOf(Error);
  expect(isError(foreign)).toBe(true);
  expect(messageOf(foreign)).toBe('no');
  expect(systemCode(foreign)).toBe('ENOENT');
});

test('anything else that is thrown has its text as its message', () => {
  expect(isError({ message: 'no' })).toBe(false);
  expect(messageOf('broken')).toBe('broken');
});
