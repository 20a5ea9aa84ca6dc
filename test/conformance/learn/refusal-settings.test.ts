import { expect, test } from 'vitest';
import type { Seen } from '../../../src/rules/rule.ts';
import { connects } from '../../helpers/device-exchanges.ts';
import { answered, refused } from '../../helpers/service-exchanges.ts';
import { learnedFrom } from './options.ts';

/** So many granted requests of the throwaway device, and one that is refused. */
const exhausted = (granted: number, status: number): Seen[] =>
  Array.from({ length: granted + 1 }, (_, at) => ({
    id: `X-${at + 1}`,
    exchange: at < granted ? answered({ at, device: 'd4' }) : refused({ at, device: 'd4', status }),
  }));

test.each([
  ['a limit', 60, 429, 429],
  ['a limit with another status', 60, 403, 403],
  ['a small limit', 3, 429, 429],
  ['trouble', 1, 503, undefined],
  ['a device that the service does not know', 0, 404, undefined],
])('a refusal that is %s, after %i requests, with %i: the status over the limit is %s', (...row) => {
  const [, granted, status, learned] = row;
  expect(learnedFrom(exhausted(granted, status))['refusals.rateLimited.status']).toBe(learned);
});

test('what a second try is answered counts, not the trouble before it', () => {
  const headers = { 'X-RateLimit-Limit': undefined, 'X-RateLimit-Remaining': undefined };
  const values = learnedFrom([
    { id: 'E1', exchange: refused({ status: 503, headers }) },
    { id: 'E1-retry', exchange: answered({ at: 500 }) },
    ...exhausted(60, 429),
  ]);
  expect(values['rateLimit.headersOn']).toBe('all');
});

test.each([
  [429, { limit: 'refuse-upgrade', status: 429 }],
  [403, { limit: 'refuse-upgrade', status: 403 }],
  // A service that is full refuses any device.
  [503, { limit: undefined, status: undefined }],
])(
  'an upgrade of many is refused with %i: what is learned about the limit of a device is %o',
  (status, expected) => {
    const opened = connects();
    const answer = { status, headers: [], body: '', firstByteMs: 0 };
    const values = learnedFrom([
      { id: 'C8', exchange: { ...opened, upgrade: { ...opened.upgrade, answer } } },
    ]);
    expect({
      limit: values['stream.connectionLimit'],
      status: values['refusals.tooManyConnections.status'],
    }).toEqual(expected);
  },
);
