import { expect, test } from 'vitest';
import { longestMsOf } from '../../../src/conformance/drill/follow.ts';

const start = async () => Promise.reject(new Error('not started'));

test.each([
  ['a command has the time of the situation', { longest: { ms: 30_000 }, start, lasts: 30_000 }],
  [
    'a device that connects by itself may pause longer after the failures before',
    { longest: { ms: 30_000 }, start: undefined, lasts: 60_000 },
  ],
  ['a long situation stays long', { longest: { ms: 90_000 }, start: undefined, lasts: 90_000 }],
  ['some depend on the patience of the device', { longest: { deviceTimeouts: 2 }, start, lasts: 120_000 }],
])('%s', (_what, { longest, start: begin, lasts }) => {
  expect(longestMsOf({ longest }, { deviceTimeoutMs: 60_000, start: begin })).toBe(lasts);
});
