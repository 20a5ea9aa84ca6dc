import { expect, test } from 'vitest';
import {
  concealHeaderValue,
  concealKey,
  concealNumbers,
  concealUrl,
  secretInHeader,
  secretsInFields,
  secretsInText,
  secretsInUrl,
} from '../../src/kernel/secret-fields.ts';

test.each([
  ['/voice-stream?token=canary', '/voice-stream?token=[redacted]', ['canary']],
  ['/voice-stream?api_key=canary&device=lamp', '/voice-stream?api_key=[redacted]&device=lamp', ['canary']],
  ['wss://h/voice-stream?a=1&apiKey=can%61ry', 'wss://h/voice-stream?a=1&apiKey=[redacted]', ['canary']],
  ['/x?Access-Token=canary&KEY=canary2', '/x?Access-Token=[redacted]&KEY=[redacted]', ['canary', 'canary2']],
  ['/x?t=eyJhbGciOi.canary.x', '/x?t=[redacted]', ['eyJhbGciOi.canary.x']],
  ['/x?canary-4f8e2a-5f1c77e0a9', '/x?[redacted]', ['canary-4f8e2a-5f1c77e0a9']],
  ['/x?token=%zzcanary', '/x?token=[redacted]', ['%zzcanary']],
  ['https://user:canary@h/x', 'https://[redacted]@h/x', []],
  ['https://h/x?y=1#canary', 'https://h/x?y=1#[redacted]', []],
  ['/x?token=&tokens=5&monkey=1&retry', '/x?token=&tokens=5&monkey=1&retry', []],
  ['/x', '/x', []],
])('%s without what grants access is %s', (url, shown, secrets) => {
  expect(concealUrl(url)).toBe(shown);
  expect(secretsInUrl(url)).toEqual(secrets);
});

test.each([
  ['Authorization', 'Bearer canary', 'Bearer [redacted]'],
  ['authorization', 'canary', '[redacted]'],
  ['Cookie', 'sid canary', '[redacted]'],
  ['Set-Cookie', 'sid=canary; Path=/', '[redacted]'],
  ['X-Api-Key', 'canary', '[redacted]'],
  ['Referer', 'https://h/?token=canary', 'https://h/?token=[redacted]'],
  ['Sec-WebSocket-Key', 'x3JJHMbDL1EzLkh9GBhXDw==', 'x3JJHMbDL1EzLkh9GBhXDw=='],
  ['X-RateLimit-Limit', '60', '60'],
  ['X-Api-Key', '', ''],
])('the header %s: %s is shown as %s', (name, value, shown) => {
  expect(concealHeaderValue(name, value)).toBe(shown);
  if (shown.endsWith('[redacted]') && name !== 'Referer')
    expect(secretInHeader(name, value)).toBe(value.replace('Bearer ', ''));
});

test.each([
  ['{"apiKey":"canary","deviceId":"d"}', '{"apiKey":"[redacted]","deviceId":"d"}'],
  ['{"apiKey" : "can\\"ary" }', '{"apiKey" : "[redacted]" }'],
  ['{"apiKey":"canary', '{"apiKey":"[redacted]"'],
  ["{'api_key': 'canary', d: 1}", "{'api_key': '[redacted]', d: 1}"],
  ['{apiKey: canary, d: 1}', '{apiKey: [redacted], d: 1}'],
  ['apiKey=canary&deviceId=d', 'apiKey=[redacted]&deviceId=d'],
  ['deviceId=d&api-key=canary', 'deviceId=d&api-key=[redacted]'],
  ['{"apiKey":"canary","apiKey":"canary"}', '{"apiKey":"[redacted]","apiKey":"[redacted]"}'],
  ['{"apiKey":""}', '{"apiKey":""}'],
  ['{"apiKey":7,"a":1}', '{"apiKey":7,"a":1}'],
  ['{"apiKey":null}', '{"apiKey":null}'],
  ['{"apiKey":["x"]}', '{"apiKey":["x"]}'],
])('the body %s is shown as %s', (body, shown) => {
  expect(concealKey(body)).toBe(shown);
});

test.each([
  ['{"apiKey":"canary-1"}', ['canary-1']],
  ['{"apiKey": [ "canary-1"', ['canary-1']],
  ["{'api_key': ('canary-1',)}", ['canary-1']],
  ['apiKey=canary-1&api-key=canary-2', ['canary-1', 'canary-2']],
  ['{"apiKey":4711081512345}', ['4711081512345']],
  ['{"apiKey":"short","api_key":null}', []],
  ['{"apiKey":{"a":1}}', []],
])('in the text %s the keys are %j', (text, secrets) => {
  expect(secretsInText(text)).toEqual(secrets);
});

test.each([
  ['a key in a list', { apiKey: ['canary-1'] }, ['canary-1']],
  ['an object under the name of a secret', { auth: { user: ['canary-1'] } }, ['canary-1']],
  ['an authorization with its scheme', { headers: { Authorization: 'Bearer canary-1' } }, ['canary-1']],
  ['no secret', { deviceId: 'canary-1', key: 'short', pass: 4711081512345 }, []],
  ['who has a secret', { auth: { type: 'Bearer', deviceId: 'lamp-1', value: 'canary-1' } }, ['canary-1']],
  ['what kind a secret is', { credentials: { token_type: 'Bearer', 'Auth-Scheme': 'Digest-1' } }, []],
  ['a secret of the one who has it', { auth: { device: { id: 'lamp-1', key: 'canary-1' } } }, ['canary-1']],
  ['a method with the name of a field', { auth: { method: 'apiKey' } }, []],
  ['nothing', undefined, []],
])('of %s the secrets are known', (_what, value, secrets) => {
  expect(secretsInFields(value)).toEqual(secrets);
});

test('of very many or very deep fields a bounded number of secrets is known', () => {
  const times = 50_000;
  const many = Array.from({ length: times }, (_, index) => ({ key: `canary-${index}` }));
  expect(secretsInFields(many).length).toBeLessThan(50);
  const deep = JSON.parse(`${'['.repeat(times)}${']'.repeat(times)}`);
  expect(secretsInFields(deep)).toEqual([]);
  for (const part of ['apiKey:\\"', 'apiKey:{', 'apiKey:[', 'apiKey: ', 'apiKey:"'])
    expect(secretsInText(part.repeat(times)).length).toBeLessThan(50);
  expect(concealKey('apiKey:{'.repeat(times))).toContain('apiKey:{apiKey:{');
});

test('a long list is read to its end, and no name is made of each of its elements', () => {
  let named = 0;
  const list = new Proxy([...Array.from({ length: 50_000 }, () => 1), { key: 'canary-1' }], {
    ownKeys(target) {
      named += target.length;
      return Reflect.ownKeys(target);
    },
  });
  expect(secretsInFields({ auth: list })).toEqual(['canary-1']);
  expect(secretsInFields(list)).toEqual(['canary-1']);
  expect(named).toBe(0);
});

test('a number that is a secret is 0 in JSON, which stays JSON', () => {
  const json = '{"apiKey":[4711081512345,-2.5e3],"a":"\\"4711081512345","b":47110815123456}';
  const shown = concealNumbers(json, (text) => text === '4711081512345');
  expect(shown).toBe('{"apiKey":[0,-2.5e3],"a":"\\"4711081512345","b":47110815123456}');
});

test('of the numbers in JSON only those that are as long as a secret are looked up', () => {
  const asked: string[] = [];
  concealNumbers('[1,-12.5,99999,471108,"4711081512345",4711081512345]', (text) => {
    asked.push(text);
    return false;
  });
  expect(asked).toEqual(['471108', '4711081512345']);
});

test('a number of any length is looked up whole', () => {
  const long = '1'.repeat(2 ** 25);
  expect(concealNumbers(`[${long}]`, (text) => text === long)).toBe('[0]');
});
