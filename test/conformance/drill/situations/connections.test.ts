import { expect, test } from 'vitest';
import { situations } from '../../../../src/conformance/drill/catalogue.ts';
import { asks, confirms, connects, jwt, presents, seenAs } from '../../../helpers/device-exchanges.ts';
import { viewOf } from '../view-of.ts';

/** Streams that begin at these times, each with a new token, and that the service closes once it has confirmed them. */
const closedAt = (...times: readonly number[]) =>
  times.flatMap((at) => [
    asks({ at, token: jwt(at) }),
    connects({
      at,
      messages: [presents(jwt(at), at), confirms(at)],
      end: { at: at + 10, by: 'service', code: 1011 },
    }),
  ]);

test.each([
  ['comes back four times passes', closedAt(0, 1_000, 3_000, 7_000, 15_000), 'pass'],
  ['gives up after the second time fails', closedAt(0, 1_000), 'fail'],
])('a device whose streams are closed immediately, and that %s', (_what, exchanges, verdict) => {
  const situation = situations.find(({ id }) => id === 'D9-again');
  const view = viewOf({ now: 60_000, seen: seenAs(...exchanges) });
  expect(situation?.judge(view).verdict).toBe(verdict);
});
