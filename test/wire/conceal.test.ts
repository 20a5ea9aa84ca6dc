import { expect, test } from 'vitest';
import { createRedactor } from '../../src/kernel/redact.ts';
import { concealRequest, concealText, secretsIn } from '../../src/wire/conceal.ts';
import { jwt } from '../helpers/device-exchanges.ts';

const token = jwt(1);

test.each([
  ['that is nothing but a token', token, '[redacted]'],
  ['with a token in a field', `{"resume":"${token}"}`, '{"resume":"[redacted]"}'],
  ['with a token in escapes', `{"a":"\\n","resume":"${token}"}`, '{"a":"\\n","resume":"[redacted]"}'],
  ['without one', '{"a":"b.c.d"}', '{"a":"b.c.d"}'],
])('a text %s has no token, also if nobody has presented or granted it', (_what, text, concealed) => {
  expect(concealText(text, createRedactor())).toBe(concealed);
});

test.each([
  ['the path', { url: `/voice-stream/${token}` }, '/voice-stream/[redacted]'],
  [
    'a value of the query',
    { url: `/voice-stream?access=Bearer%20${token}` },
    '/voice-stream?access=Bearer%20[redacted]',
  ],
  ['the body', { body: `{"session":"${token}"}` }, '{"session":"[redacted]"}'],
])('a request with a token in %s has none', (_where, given, concealed) => {
  const request = { method: 'GET', url: '/', headers: [], body: '', ...given };
  const { url, body } = concealRequest(request, createRedactor());
  expect('body' in given ? body : url).toBe(concealed);
});

test('the names of the fields of a token request are no secrets, wherever they stand', () => {
  const body = JSON.stringify({ apiKey: 'deviceId', auth: { keys: ['apiKey', 'a-secret-key'] } });
  expect(secretsIn({ method: 'POST', url: '/', headers: [], body })).toEqual(['a-secret-key']);
});
