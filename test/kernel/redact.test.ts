import { expect, test } from 'vitest';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { createRedactor } from '../../src/kernel/redact.ts';

const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkMSJ9.c2lnbmF0dXJlLWNhbmFyeQ';

test('a secret is taken out of texts and names, at any depth, and the line stays JSON', () => {
  const redactor = createRedactor();
  redactor.conceal('key-"canary"');
  redactor.conceal(token);
  const said = JSON.stringify({ yourKey: 'key-"canary"', [token]: 1 });
  const line = redactor.line({ text: said, body: JSON.parse(said), list: [[`Bearer ${token}`]], n: 1 });
  expect(line).not.toMatch(/canary|c2lnbmF0dXJl/);
  expect(JSON.parse(line)).toEqual({
    text: '{"yourKey":"[redacted]","[redacted]":1}',
    body: { yourKey: '[redacted]', '[redacted]': 1 },
    list: [['Bearer [redacted]']],
    n: 1,
  });
});

test('the signature of a token is a secret by itself', () => {
  const redactor = createRedactor();
  redactor.conceal(token);
  expect(redactor.line({ text: 'c2lnbmF0dXJlLWNhbmFyeQ' })).toBe('{"text":"[redacted]"}\n');
});

test('numbers and short texts are no secrets', () => {
  const redactor = createRedactor();
  redactor.conceal('12345678');
  redactor.conceal('type');
  expect(JSON.parse(redactor.line({ type: 'a', n: 12345678, text: '12345678' }))).toEqual({
    type: 'a',
    n: 12345678,
    text: '[redacted]',
  });
});

test('an error is told without secrets, and is the same error where it has none', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  const cause = new Error('why');
  const details = { serviceMessage: 'key-canary is unknown', status: 401 };
  const error = new VoicectlError('auth-refused', 'Refused: key-canary', {
    hint: 'Not key-canary',
    details,
    cause,
  });
  const told = redactor.thrown(error) as VoicectlError;
  expect(told).toMatchObject({
    code: 'auth-refused',
    message: 'Refused: [redacted]',
    hint: 'Not [redacted]',
    cause,
  });
  expect(told.details).toEqual({ serviceMessage: '[redacted] is unknown', status: 401 });
  expect(told.stack).toContain('redact.test.ts');
  expect(told.stack).not.toContain('canary');
  const harmless = new VoicectlError('usage', 'What?');
  expect(redactor.thrown(harmless)).toBe(harmless);
});

test('nothing but text is changed: null, lists and numbers stay what they are', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  expect(redactor.value({ none: null, list: [null, 'key-canary'], n: 1, b: false })).toEqual({
    none: null,
    list: [null, '[redacted]'],
    n: 1,
    b: false,
  });
});

test('a value without a secret is the value itself', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  const value = { none: null };
  expect(redactor.value(value)).toBe(value);
});

test.each([
  ['five characters', 'abcde', 'abcde'],
  ['six characters', 'abcdef', '[redacted]'],
])('a text of %s: %s', (_what, secret, shown) => {
  const redactor = createRedactor();
  redactor.conceal(secret);
  expect(redactor.text(secret)).toBe(shown);
});

test.each([
  ['of two parts', 'first-part.second-part'],
  ['of four parts', 'first-part.second-part.third-part.fourth-part'],
])('a secret %s is no token: none of its parts is a secret', (_what, secret) => {
  const redactor = createRedactor();
  redactor.conceal(secret);
  for (const part of secret.split('.')) expect(redactor.text(part)).toBe(part);
  expect(redactor.text(secret)).toBe('[redacted]');
});

test('what is no error of ours, and an error without a stack, pass', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  const other = new Error('key-canary');
  expect(redactor.thrown(other)).toBe(other);
  expect(redactor.thrown('key-canary')).toBe('key-canary');
  const error = new VoicectlError('usage', 'Not key-canary');
  delete error.stack;
  expect((redactor.thrown(error) as VoicectlError).message).toBe('Not [redacted]');
});
