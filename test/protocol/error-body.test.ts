import { expect, test } from 'vitest';
import { errorBody, isRecord, readError } from '../../src/protocol/error-body.ts';

test('details are present only if there are any', () => {
  expect(errorBody('CODE', 'Text')).toStrictEqual({ error: { code: 'CODE', message: 'Text' } });
  const details = { field: 'apiKey', expected: 'string' };
  expect(errorBody('CODE', 'Text', details)).toStrictEqual({
    error: { code: 'CODE', message: 'Text', details },
  });
});

test.each([
  ['nested', { error: { code: 'C', message: 'M' } }, 'C', 'M'],
  ['flat', { code: 'C', message: 'M' }, 'C', 'M'],
  ['a string under error', { error: 'M' }, undefined, 'M'],
  ['a string under error, beside a code', { error: 'M', code: 'C' }, 'C', 'M'],
  ['problem details', { status: 422, detail: 'M' }, undefined, 'M'],
  ['a number as code', { error: { code: 42, message: 'M' } }, '42', 'M'],
  ['empty strings', { error: { code: '', message: '' } }, undefined, undefined],
  ['objects where text is expected', { error: { code: {}, message: [] } }, undefined, undefined],
  ['no error at all', { token: 'x' }, undefined, undefined],
  ['an array', [{ code: 'C' }], undefined, undefined],
  ['a string', 'C', undefined, undefined],
  ['null', null, undefined, undefined],
  ['nothing', undefined, undefined, undefined],
])('an error is read out of %s', (_name, body, code, message) => {
  expect(readError(body)).toStrictEqual({ code, message });
});

test.each([
  [{}, true],
  [null, false],
  [[], false],
  ['text', false],
  [1, false],
  [undefined, false],
])('%j is a JSON object: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});
