import { expect, test } from 'vitest';
import { isLoopbackHost } from '../../src/protocol/loopback.ts';

test.each(['localhost', 'LOCALHOST', 'app.localhost', '127.0.0.1', '127.255.0.9', '::1', '[::1]'])(
  '%s is this machine',
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

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
