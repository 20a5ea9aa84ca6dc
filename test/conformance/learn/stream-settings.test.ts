import { expect, test } from 'vitest';
import type { StreamEnd } from '../../../src/wire/exchange.ts';
import { confirms, connects, presents } from '../../helpers/device-exchanges.ts';
import { answered, serviceToken, tells } from '../../helpers/service-exchanges.ts';
import { learnedFrom } from './options.ts';

/** The stream that is open when its token expires. */
function heldAt55s(token: string, end: Pick<NonNullable<Parameters<typeof connects>[0]>, 'end'>) {
  return connects({ at: 55_000, messages: [presents(token, 55_000), confirms(55_010)], ...end });
}

test.each([
  [60_400, 'close', 4401],
  [65_200, undefined, undefined],
])(
  'a stream that is closed when its token is %i ms old shows what follows its expiry: %s',
  (at, what, code) => {
    const token = serviceToken(1, { sub: 'd1' });
    const values = learnedFrom([
      { id: 'T55', exchange: answered({ at: 0, device: 'd1', token }) },
      {
        id: 'A55',
        exchange: heldAt55s(token, { end: { at, by: 'service', code: 4401 } }),
      },
    ]);
    expect([values['stream.expiryDuringStream'], values['stream.closes.sessionExpired.close']]).toEqual([
      what,
      code,
    ]);
  },
);

test.each([
  [5_400, undefined],
  [8_000, 'close'],
])(
  'a close after 5 s, when the token expires, shows what follows if another stream was closed after %i ms: %s',
  (lastedMs, what) => {
    const token = serviceToken(1, { sub: 'd1' });
    const stream = (at: number, ms: number) =>
      connects({
        at,
        messages: [presents(token, at), confirms(at + 10)],
        end: { at: at + ms, by: 'service', code: 4401 },
      });
    const values = learnedFrom([
      { id: 'T55', exchange: answered({ at: 0, device: 'd1', token }) },
      { id: 'C1', exchange: stream(10_000, lastedMs) },
      { id: 'A55', exchange: stream(55_000, 5_000) },
    ]);
    expect(values['stream.expiryDuringStream']).toBe(what);
  },
);

const broken: StreamEnd['breakdown'] = { by: 'service', code: 'protocol-violation', message: 'a bad frame' };

test.each([
  ['is closed by the program', { code: 1000 }, ['continue', 'ignore', 'audio']],
  ['breaks because of the service', { code: 1002, breakdown: broken }, []],
  ['breaks in a normal close', { code: 1000, breakdown: broken }, []],
  ['is cut', { code: 1006 }, []],
  ['is still open when the run stops', undefined, []],
] as const)('a stream that %s shows as much as was waited for', (_does, how, shown) => {
  const token = serviceToken(1, { sub: 'd1' });
  const ends = (at: number) => (how === undefined ? {} : { end: { at, by: 'device' as const, ...how } });
  const values = learnedFrom([
    { id: 'T55', exchange: answered({ at: 0, device: 'd1', token }) },
    {
      id: 'A55',
      exchange: heldAt55s(token, ends(75_000)),
    },
    {
      id: 'S3',
      exchange: connects({
        messages: [presents(token), confirms(10), { ...tells('voicectl check', 20), from: 'device' }],
        ...ends(600),
      }),
    },
    {
      id: 'S8',
      exchange: connects({ messages: [presents(token, 0, 'binary')], ...ends(600) }),
    },
  ]);
  const learned = ['expiryDuringStream', 'textAfterToken', 'binaryToken'].map(
    (name) => values[`stream.${name}`],
  );
  expect(learned).toEqual([0, 1, 2].map((index) => shown[index]));
});

test('a status whose code and message are empty is no error', () => {
  const token = serviceToken(1, { sub: 'd1' });
  const says = {
    ...tells(JSON.stringify({ type: 'status', code: '', message: '' }), 100),
    from: 'service' as const,
  };
  const values = learnedFrom([
    {
      id: 'S3',
      exchange: connects({
        messages: [presents(token), confirms(10), { ...tells('voicectl check', 20), from: 'device' }, says],
        end: { at: 600, by: 'device', code: 1000 },
      }),
    },
  ]);
  expect(values['stream.textAfterToken']).toBe('ignore');
});
