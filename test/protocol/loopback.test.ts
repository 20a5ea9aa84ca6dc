import { expect, test } from 'vitest';
import { isLoopbackHost, isSafeTransport } from '../../src/protocol/loopback.ts';

test.each([
  'localhost',
  'LOCALHOST',
  'app.localhost',
  'my-app.team.localhost',
  '127.0.0.1',
  '127.255.0.9',
  '::1',
  '[::1]',
])('%s is this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

test.each([
  '',
  'example.com',
  'localhost.example.com',
  'notlocalhost',
  '127.0.0.1.example.com',
  '127.1',
  '0x7f000001',
  '2130706433',
  '0.0.0.0',
  '::',
  '128.0.0.1',
  '10.0.0.1',
  '169.254.169.254',
  '::ffff:127.0.0.1',
  'fe80::1',
])('%j is not taken for this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});

test.each([
  ['https://example.com', true],
  ['wss://example.com/voice-stream', true],
  ['http://localhost:8787', true],
  ['ws://127.0.0.1:8787/voice-stream', true],
  ['http://[::1]:8787', true],
  ['http://example.com', false],
  ['ws://10.0.0.1/voice-stream', false],
  ['ws://example.com/?host=localhost', false],
])('a key may go to %s: %s', (url, isSafe) => {
  expect(isSafeTransport(url)).toBe(isSafe);
});
