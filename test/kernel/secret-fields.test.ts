import { expect, test } from 'vitest';
import {
  concealHeaderValue,
  concealKey,
  concealUrl,
  secretInHeader,
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
