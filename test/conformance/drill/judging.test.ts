import { expect, test } from 'vitest';
import { judgeComeback, judgeGoingOn } from '../../../src/conformance/drill/judging.ts';
import { unknown } from '../../../src/rules/rule.ts';
import { confirms, connects, jwt, presents, seenAs, speaks } from '../../helpers/device-exchanges.ts';
import { viewOf } from './view-of.ts';

test.each([
  [50, 'fail', 'after a reply it sent only 0.4 × real time'],
  [20, 'pass', 'it kept sending after a reply, at 1.0 × real time'],
])('a device that sends 20 ms of audio every %i ms during a reply: %s', (everyMs, verdict, message) => {
  const before = speaks(100, { ms: 900 });
  const during = speaks(1_000, { ms: 4_000, everyMs });
  const stream = connects({ messages: [presents(jwt(1)), confirms(50), ...before, ...during] });
  const view = viewOf({ now: 5_000, seen: seenAs(stream), done: [1_000] });
  expect(judgeGoingOn(view, 'a reply')).toMatchObject({ verdict, message });
});

const refusal = { type: 'fault-struck', fault: 'upgrade-refused', id: 1, t: 0, at: 1_000 } as const;

test.each([
  ['that never had a stream has nothing to return to', [], 'unknown', 'closed only 0 times'],
  ['whose upgrade was refused has', [refusal], 'fail', 'it did not reconnect within 4.0 s'],
])('a device %s', (_what, journal, verdict, message) => {
  const view = viewOf({ now: 5_000, seen: [], journal });
  expect(judgeComeback(view, unknown('closed only 0 times', []))).toMatchObject({ verdict, message });
});
