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

const situationOf = (id: string) => {
  const found = situations.find((one) => one.id === id);
  if (found === undefined) throw new Error(id);
  return found;
};

test.each([
  ['hangs fails', undefined, 'fail', 'it did not reconnect within 30.0 s'],
  ['ends is warned', { at: 1_000, status: 1 }, 'warn', 'the command ended with 1 and did not reconnect'],
])('a device that gets an expired token and %s', (_what, ended, verdict, message) => {
  const seen = seenAs(asks({ at: 0, token: jwt(1) }));
  const view = viewOf({ now: 30_000, seen, device: { starts: 1, ended } });
  expect(situationOf('D8-expired').judge(view)).toMatchObject({ verdict, message });
});

const silenced = (noticedAt: number | undefined) => [
  asks({ at: 0, token: jwt(1) }),
  connects({
    at: 0,
    messages: [presents(jwt(1), 0), confirms(0)],
    ...(noticedAt !== undefined && { end: { at: noticedAt, by: 'device', code: 1006 } }),
  }),
];

test('a device that is to notice a loss is watched for that long, and then until it is back', () => {
  const { until, judge, longest } = situationOf('D10-half-open');
  const at = (now: number, noticedAt?: number) =>
    viewOf({ now, seen: seenAs(...silenced(noticedAt)), done: [1_000], deviceTimeoutMs: 5_000 });
  expect(until(at(5_900))).toBe(false);
  expect(until(at(6_100))).toBe(true);
  expect(judge(at(6_100)).verdict).toBe('fail');
  expect(until(at(12_000, 5_900))).toBe(false);
  expect(longest).toEqual({ ms: 30_000, notices: true });
});

const refusedAt = (...times: readonly number[]) =>
  times.map((at) => ({ type: 'fault-struck', fault: 'upgrade-refused', id: 1, t: at, at }) as const);

test.each([
  [false, 'fail'],
  [true, 'unknown'],
])('refused upgrades of a device are judged only if no other one connected: %s', (isShared, verdict) => {
  const journal = refusedAt(0, 100, 200, 300);
  const view = viewOf({ now: 60_000, seen: seenAs(...closedAt(400)), journal, isShared });
  expect(situationOf('D9-503').judge(view).verdict).toBe(verdict);
});
