import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { systemCode } from '../../src/files/refusal.ts';
import { isError, messageOf, toVoicectlError, VoicectlError } from '../../src/kernel/errors.ts';

test('an error has its name and code, and only the properties that were given', () => {
  const error = new VoicectlError('usage', 'What?');
  expect(`${error}`).toBe('VoicectlError: What?');
  expect(error).toMatchObject({ code: 'usage', hint: undefined, retryable: false, details: {}, exitCode: 2 });
  expect('cause' in error).toBe(false);
});

test('an error keeps what was given', () => {
  const cause = new Error('why');
  const error = new VoicectlError('connect-failed', 'No', {
    cause,
    hint: 'Look',
    retryable: true,
    details: { rate: 1 },
  });
  expect(error).toMatchObject({ hint: 'Look', retryable: true, details: { rate: 1 }, exitCode: 4 });
  expect(error.cause).toBe(cause);
});

test('what was thrown is our error, or becomes an internal error with its cause', () => {
  const own = new VoicectlError('usage', 'What?');
  expect(toVoicectlError(own)).toBe(own);
  const other = new TypeError('no such thing');
  expect(toVoicectlError(other)).toMatchObject({ code: 'internal', message: 'no such thing', cause: other });
  expect(toVoicectlError('text')).toMatchObject({ code: 'internal', message: 'text', cause: 'text' });
});

test.each(['EMFILE', 'ENFILE'])('%s is a limit of the machine, not a bug', (code) => {
  const cause = Object.assign(new Error(`${code}: too many open files, open 'x'`), { code });
  const error = toVoicectlError(cause);
  expect(error).toMatchObject({ exitCode: 2, message: 'Too many files and connections are open', cause });
  expect(error.hint).toContain('ulimit');
});

test('an object with such a code that is not an error is a bug like any other', () => {
  expect(toVoicectlError({ code: 'EMFILE' })).toMatchObject({ code: 'internal' });
});

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
