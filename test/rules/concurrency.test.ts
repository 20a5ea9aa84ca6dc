import { expect, test } from 'vitest';
import { concurrencyRules } from '../../src/rules/concurrency.ts';
import type { Seen } from '../../src/rules/rule.ts';
import { confirms, connects, presents, seenAs } from '../helpers/device-exchanges.ts';
import { answered, finding, serviceToken } from '../helpers/service-exchanges.ts';

interface Opening {
  at: number;
  device?: string;
  accepted?: boolean;
  end?: { at: number; by: 'device' | 'service'; code?: number };
  /** How old its token is. */
  ageMs?: number;
  provoked?: boolean;
}

/** An attempt to open a stream, as `S` with its time; refused with 4429 unless it is accepted. */
function opens({
  at,
  device = 'd1',
  accepted = true,
  ageMs = 1,
  provoked = false,
  ...rest
}: Opening): Seen[] {
  const token = serviceToken(at, { sub: device });
  const messages = [presents(token, at), ...(accepted ? [confirms(at + 1)] : [])];
  const { end = accepted ? undefined : { at: at + 2, by: 'service' as const, code: 4429 } } = rest;
  const [asked, stream] = seenAs(
    answered({ at: at - ageMs, device, token }),
    connects({ at, messages, ...(end === undefined ? {} : { end }) }),
  );
  return [
    { ...asked!, id: `E${at}` },
    { ...stream!, id: `S${at}`, provoked },
  ];
}

/** Streams that were opened one after the other, 10 ms apart, and stay open. */
const open = (count: number, more: Partial<Opening> = {}, from = 0) =>
  Array.from({ length: count }, (_, index) => opens({ at: from + index * 10, ...more })).flat();

/** An upgrade that was answered with this status. */
function upgrade(at: number, status: number, provoked = true): Seen[] {
  const exchange = connects({ at });
  const answer = { status, headers: [], body: '', firstByteMs: 0 };
  return [{ id: 'U1', provoked, exchange: { ...exchange, upgrade: { ...exchange.upgrade, answer } } }];
}

/** What is left when the requests are forgotten for which these streams were opened. */
const forgetting = (seen: readonly Seen[]) => seen.filter(({ exchange }) => exchange.kind === 'stream');

const all = 'S0 S10 S20 S30 S40 S50 S60 S70 S80 S90';
const closed = (at: number, end: number, by: 'device' | 'service', code = 1000) =>
  opens({ at, end: { at: end, by, code } });
/** An attempt that is not answered yet, or that its device gave up then. */
const pending = (at: number, end?: number): Seen[] =>
  opens({ at, accepted: false }).map((one) =>
    one.exchange.kind === 'stream'
      ? {
          ...one,
          exchange: {
            ...one.exchange,
            end: end === undefined ? undefined : { ...one.exchange.end!, at: end, by: 'device' as const },
          },
        }
      : one,
  );

type Case = [id: string, what: string, found: string | undefined, seen: readonly Seen[]];

const cases: Case[] = [
  ['R42', 'ten', `pass: 10 streams are open (${all})`, open(10)],
  ['R42', 'nine', undefined, open(9)],
  ['R42', 'five of each of two', undefined, [...open(5), ...open(5, { device: 'd2' }, 50)]],
  [
    'R42',
    'a third one refused',
    'fail: with 2 open, one more was refused: closed with 4429 (S20)',
    [...open(2), ...opens({ at: 20, accepted: false })],
  ],
  ['R42', 'a second one refused', undefined, [...open(1), ...opens({ at: 20, accepted: false })]],
  [
    'R42',
    'an old token refused',
    undefined,
    [...open(3), ...opens({ at: 60_000, ageMs: 30_000, accepted: false })],
  ],
  [
    'R42',
    'a token refused that is not old yet',
    'fail: with 3 open, one more was refused: closed with 4429 (S60000)',
    [...open(3), ...opens({ at: 60_000, ageMs: 29_999, accepted: false })],
  ],
  [
    'R42',
    'one refused on purpose',
    undefined,
    [...open(3), ...opens({ at: 90, accepted: false, provoked: true })],
  ],
  [
    'R42',
    'a slot that does not come back',
    `pass: 10 streams are open (${all})`,
    [...open(9), ...closed(90, 200, 'device'), ...opens({ at: 300, accepted: false })],
  ],
  [
    'R42',
    'one closed for the third',
    'fail: with 2 open, one more closed an older one (S20)',
    [...closed(0, 500, 'service', 4001), ...opens({ at: 10 }), ...opens({ at: 20 })],
  ],
  [
    'R42',
    'one refused while another device is full',
    'fail: with 3 open, one more was refused: closed with 4429 (S300)',
    [...open(10), ...open(3, { device: 'd2' }, 200), ...opens({ at: 300, device: 'd2', accepted: false })],
  ],
  [
    'R42',
    'a call that ended while a third was opened',
    undefined,
    [...closed(0, 500, 'service'), ...opens({ at: 10 }), ...opens({ at: 20 })],
  ],
  ['R42', 'one that is not decided yet', undefined, [...open(3), ...pending(90)]],
  ['R42', 'one that its device gave up soon', undefined, [...open(3), ...pending(90, 1_090)]],
  [
    'R42',
    'the eleventh refused, when the requests of eight are forgotten',
    `pass: 10 streams are open (${all})`,
    [...forgetting(open(8)), ...open(2, {}, 80), ...opens({ at: 100, accepted: false })],
  ],
  [
    'R42',
    'one that its device gave up late',
    'fail: with 3 open, one more was refused: no confirmation arrived (S90)',
    [...open(3), ...pending(90, 2_090)],
  ],

  [
    'R43',
    'the eleventh refused',
    'pass: refused: closed with 4429 (S100)',
    [...open(10), ...opens({ at: 100, accepted: false })],
  ],
  ['R43', 'the eleventh accepted', 'fail: with 10 open, one more was accepted (S100)', open(11)],
  ['R43', 'no eleventh', undefined, open(10)],
  ['R43', 'never full', undefined, [...open(9), ...upgrade(200, 429)]],
  [
    'R43',
    'the upgrade refused',
    'pass: refused: the upgrade was answered with 429 (U1)',
    [...open(10), ...upgrade(90, 429)],
  ],
  ['R43', 'an upgrade refused before', undefined, [...open(10), ...upgrade(89, 429)]],
  ['R43', 'an upgrade refused for nothing', undefined, [...open(10), ...upgrade(200, 429, false)]],
  ['R43', 'an upgrade that opened', undefined, [...open(10), ...upgrade(200, 101)]],
  [
    'R43',
    'an older one closed for it',
    'pass: accepted; S0 was closed to make room (S100 S0)',
    [...closed(0, 3_101, 'service'), ...open(10, {}, 10)],
  ],
  [
    'R43',
    'all older ones closed for it',
    'pass: accepted; S0, S10, S20, S30, S40, S50, S60, S70, S80, S90 were closed to make room (S100 S0 S10 S20 S30 S40 S50 S60 S70 S80 S90)',
    [...open(10, { end: { at: 200, by: 'service', code: 4000 } }), ...opens({ at: 100 })],
  ],
  [
    'R43',
    'the eleventh confirmed when one of the ten has ended',
    'pass: it waited until another stream had ended (S100)',
    [...open(9), ...closed(90, 101, 'device'), ...opens({ at: 100 })],
  ],
  [
    'R43',
    'the eleventh confirmed shortly before one of the ten ends',
    'fail: with 10 open, one more was accepted (S100)',
    [...open(9), ...closed(90, 102, 'device'), ...opens({ at: 100 })],
  ],
  [
    'R43',
    'the eleventh confirmed, and soon closed',
    'pass: refused after its confirmation: closed with 4029 (S100)',
    [...open(10), ...closed(100, 3_101, 'service', 4029)],
  ],
  [
    'R43',
    'the eleventh closed later',
    'fail: with 10 open, one more was accepted (S100)',
    [...open(10), ...closed(100, 3_102, 'service', 4029)],
  ],
  [
    'R43',
    'the eleventh ended normally',
    'fail: with 10 open, one more was accepted (S100)',
    [...open(10), ...closed(100, 200, 'service')],
  ],
  [
    'R43',
    'an older one closed later',
    'fail: with 10 open, one more was accepted (S100)',
    [...closed(0, 3_102, 'service'), ...open(10, {}, 10)],
  ],
  [
    'R43',
    'an older one closed by the device',
    'fail: with 10 open, one more was accepted (S100)',
    [...closed(0, 200, 'device'), ...open(10, {}, 10)],
  ],
  [
    'R43',
    'an older one closed after the next came',
    'fail: with 10 open, one more was accepted (S100)',
    [...closed(0, 200, 'service'), ...open(11, {}, 10)],
  ],
  [
    'R43',
    'an older one closed after another device’s came',
    'pass: accepted; S0 was closed to make room (S100 S0)',
    [...closed(0, 200, 'service'), ...open(10, {}, 10), ...opens({ at: 150, device: 'd2' })],
  ],

  [
    'R44',
    'the next accepted when one was closed',
    'pass: the slot of a closed stream is free again (S300)',
    [...open(9), ...closed(90, 200, 'device'), ...opens({ at: 300 })],
  ],
  [
    'R44',
    'the next refused though one was closed',
    'fail: with 9 left open, one more was refused: closed with 4429 (S300)',
    [...open(9), ...closed(90, 200, 'device'), ...opens({ at: 300, accepted: false })],
  ],
  [
    'R44',
    'the next refused when hardly any is left',
    undefined,
    [
      ...open(1),
      ...[10, 20, 30, 40, 50, 60, 70, 80, 90].flatMap((at) => closed(at, 200, 'device')),
      ...opens({ at: 300, accepted: false }),
    ],
  ],
  [
    'R44',
    'the next refused when two are left',
    'fail: with 2 left open, one more was refused: closed with 4429 (S300)',
    [
      ...open(2),
      ...[20, 30, 40, 50, 60, 70, 80, 90].flatMap((at) => closed(at, 200, 'device')),
      ...opens({ at: 300, accepted: false }),
    ],
  ],
  [
    'R44',
    'the next refused with an old token, and another device accepted',
    'unknown: refused after one was closed, with a token that may be too old (S60000)',
    [
      ...open(9),
      ...closed(90, 50_000, 'device'),
      ...opens({ at: 40_000, device: 'd2' }),
      ...opens({ at: 60_000, ageMs: 30_000, accepted: false }),
    ],
  ],
  [
    'R44',
    'the next accepted when one more had closed all of them',
    'unknown: one more stream closed 10 older ones: no device stays full, so a freed slot cannot be shown (S100 S0 S10 S20 S30 S40 S50 S60 S70 S80 S90)',
    [
      ...[0, 10, 20, 30, 40, 50, 60, 70, 80, 90].flatMap((at) => closed(at, 110, 'service', 4429)),
      ...opens({ at: 100 }),
      ...opens({ at: 300 }),
    ],
  ],
  [
    'R44',
    'another device accepted',
    'pass: another device has its own limit (S300)',
    [...open(10), ...opens({ at: 300, device: 'd2' })],
  ],
  [
    'R44',
    'another device refused',
    'fail: another device was refused: closed with 4429 (S300)',
    [...open(10), ...opens({ at: 300, device: 'd2', accepted: false })],
  ],
  [
    'R44',
    'another device refused at the moment when one of ten ends',
    'fail: another device was refused: closed with 4429 (S300)',
    [...open(9), ...closed(90, 300, 'device'), ...opens({ at: 300, device: 'd2', accepted: false })],
  ],
  [
    'R44',
    'another device refused beside nine',
    undefined,
    [...open(9), ...opens({ at: 300, device: 'd2', accepted: false })],
  ],
  [
    'R44',
    'another device that was never full',
    undefined,
    [...open(10), ...closed(300, 400, 'device'), ...opens({ at: 500, device: 'd2', accepted: false })].filter(
      ({ id }) => !['S0', 'E0', 'S10', 'E10'].includes(id),
    ),
  ],
  ['R44', 'never full', undefined, [...open(9), ...opens({ at: 300, accepted: false })]],
];

test.each(cases)('%s of %s: %s', (id, _what, found, seen) => {
  expect(finding(concurrencyRules, id, seen)).toBe(found);
});
