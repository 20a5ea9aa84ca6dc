import { expect, test } from 'vitest';
import { confirms, connects, presents } from '../../helpers/device-exchanges.ts';
import { answered, serviceToken } from '../../helpers/service-exchanges.ts';
import { learnedFrom } from './options.ts';

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
        exchange: connects({
          at: 55_000,
          messages: [presents(token, 55_000), confirms(55_010)],
          end: { at, by: 'service', code: 4401 },
        }),
      },
    ]);
    expect([values['stream.expiryDuringStream'], values['stream.closes.sessionExpired.close']]).toEqual([
      what,
      code,
    ]);
  },
);
