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

test.each([
  ['the names of the fields', { apiKey: 'deviceId', auth: { keys: ['apiKey', 'a-secret-key'] } }],
  ['the audience of its tokens', { auth: { audience: 'voice-api', user: 'a-secret-key' } }],
  ['a part of a kind of message', { auth: { user: 'service' }, key: 'a-secret-key' }],
  ['its device', { deviceId: 'lamp-1', credentials: { username: 'lamp-1', password: 'a-secret-key' } }],
])('of a token request %s is no secret, wherever it stands', (_what, body) => {
  const request = { method: 'POST', url: '/', headers: [], body: JSON.stringify(body) };
  expect(secretsIn(request)).toEqual(['a-secret-key']);
});

test('a key that stands in place of the device too is a secret', () => {
  const body = JSON.stringify({ apiKey: 'a-secret-key', deviceId: 'a-secret-key' });
  expect(secretsIn({ method: 'POST', url: '/', headers: [], body })).toEqual(['a-secret-key']);
});
