import { expect, test } from 'vitest';
import { answered } from '../../helpers/service-exchanges.ts';
import { learnedFrom } from './options.ts';

test.each([
  ['comes back as a whole', [30_000, 58], [61_000, 59], 'first-request'],
  ['comes back one by one', [30_000, 58], [61_000, 58], 'sliding'],
  ['refills', [30_000, 59], [61_000, 59], 'token-bucket'],
  ['was asked for after its window, by a slow run', [62_000, 59], [93_000, 58], undefined],
  ['was asked for at the end of its window', [59_700, 59], [61_000, 59], undefined],
  ['was asked for long after its window', [30_000, 58], [91_000, 59], undefined],
] as const)('an allowance that %s, %j, %j: the window is %s', (_what, within, after, window) => {
  const asked = (id: string, [at, remaining]: readonly [number, number]) => ({
    id,
    exchange: answered({ at, remaining, device: 'd2' }),
  });
  const values = learnedFrom([asked('E3', [0, 59]), asked('W30', within), asked('W61', after)]);
  expect(values['rateLimit.window']).toBe(window);
});
