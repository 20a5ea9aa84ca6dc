import { describe, expect, test } from 'vitest';
import { inferDialect } from '../../../src/conformance/learn/infer.ts';
import type { Seen } from '../../../src/rules/rule.ts';
import { confirms, connects, presents } from '../../helpers/device-exchanges.ts';
import { answered, serviceToken } from '../../helpers/service-exchanges.ts';
import { learnedFrom } from './options.ts';

/** A stream on which a token is presented, and accepted or refused. */
function shown(
  id: string,
  { token, at, isAccepted }: { token: string; at: number; isAccepted: boolean },
): Seen {
  const outcome = isAccepted ? { messages: [presents(token, at), confirms(at + 10)] } : refusal(token, at);
  return { id, exchange: connects({ at: at - 10, ...outcome }) };
}
const refusal = (token: string, at: number) => ({
  messages: [presents(token, at)],
  end: { at: at + 10, by: 'service', code: 4401 } as const,
});

describe('the age at which an expired token is really presented counts:', () => {
  test.each([
    ['on time', [62_010, false], [], 0, [0, 2]],
    ['on time', [62_010, true], [66_010, false], 5, [2, 6]],
    ['14 s late', [76_000, false], [], 0, [0, 16]],
    ['late', [68_900, true], [76_000, false], 10, [8, 16]],
  ] as const)('%s, A62 %j and A66 %j: a leeway of %i s, in %j', (_when, first, second, leeway, range) => {
    const seen = [first, second].flatMap(([at, isAccepted], index): Seen[] => {
      if (at === undefined || isAccepted === undefined) return [];
      const [granted, id] = [index * 1_100, ['62', '66'][index]!];
      const token = serviceToken(granted);
      return [
        { id: `T${id}`, exchange: answered({ at: granted, token }) },
        shown(`A${id}`, { token, at: granted + at, isAccepted }),
      ];
    });
    const { settings } = inferDialect(seen, 10_000);
    const found = settings.find(({ setting }) => setting.path === 'token.clockToleranceSeconds');
    expect(found?.learned).toMatchObject({ value: leeway, range });
  });
});

test.each([
  ['refused', 30_000, true, 4401],
  ['refused', 64_000, undefined, undefined],
  ['accepted', 30_000, false, undefined],
  ['accepted', 64_000, false, undefined],
])(
  'a second use that is %s after %i ms: for one use only: %s, closed with %s',
  (fate, at, isSingle, close) => {
    const token = serviceToken();
    const values = learnedFrom([
      { id: 'E1', exchange: answered({ token }) },
      shown('S1', { token, at: 1_000, isAccepted: true }),
      shown('S2', { token, at, isAccepted: fate === 'accepted' }),
    ]);
    expect([values['token.singleUse'], values['stream.closes.tokenReused.close']]).toEqual([isSingle, close]);
  },
);
