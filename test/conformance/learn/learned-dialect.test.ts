import { describe, expect, test } from 'vitest';
import { inferDialect } from '../../../src/conformance/learn/infer.ts';
import { differences, learnedDialect } from '../../../src/conformance/learn/learned-dialect.ts';
import { type DialectInput, parseDialect } from '../../../src/protocol/dialect.ts';
import { confirms, connects, presents, speaks } from '../../helpers/device-exchanges.ts';
import { openedUpgrade } from '../../helpers/exchanges.ts';
import { replies, serviceToken, tells } from '../../helpers/service-exchanges.ts';

/** What a run learns from a stream without a message that the service closed after this long. */
function lessonOf(lastedMs: number) {
  const end = { by: 'service', code: 4408, reason: '', at: lastedMs, breakdown: undefined } as const;
  return inferDialect(
    [{ id: 'S6', exchange: { kind: 'stream', upgrade: openedUpgrade(), messages: [], end } }],
    10_000,
  );
}

test.each([
  ['closes as late as before', 5_020, 5_010, []],
  ['was slower when its dialect was learned', 5_260, 5_010, []],
  ['is slower than when its dialect was learned', 5_010, 5_260, []],
  ['closes a second earlier', 6_010, 5_010, ['stream.tokenDeadlineMs']],
  ['closes a second later', 5_010, 6_010, ['stream.tokenDeadlineMs']],
])(
  'a service that %s, after %i ms and after %i ms, differs from its dialect in %j',
  (_what, before, now, differing) => {
    const parsed = parseDialect(learnedDialect(lessonOf(before)));
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const found = differences(lessonOf(now), parsed.dialect).map(({ path }) => path);
    expect(found.filter((path) => path === 'stream.tokenDeadlineMs')).toEqual(differing);
  },
);

describe('a service whose states have kinds of their own', () => {
  const say = (type: string, at: number) => tells(JSON.stringify({ type }), at);
  const messages = [presents(serviceToken(), 10), confirms(20), ...speaks(30), say('talks', 40), replies(50)];
  const lesson = inferDialect(
    [{ id: 'S1', exchange: connects({ messages: [...messages, say('hears', 60)] }) }],
    10_000,
  );

  test.each<[kinds: NonNullable<NonNullable<DialectInput['stream']>['status']>, differing: string[]]>([
    [{ kind: 'hears', kinds: { speaking: 'talks' } }, []],
    [{ kind: 'talks', kinds: { listening: 'hears' } }, []],
    [{ kinds: { listening: 'hears', speaking: 'talks' } }, []],
    [{ kind: 'hears' }, ['kinds.speaking']],
    [{ kind: 'talks' }, ['kind']],
    [{ kind: 'hears', kinds: { listening: 'ears', speaking: 'talks' } }, ['kind']],
    [{ kind: 'other' }, ['kind', 'kinds.speaking']],
  ])('compared with a dialect that says %j, differs in %j', (status, differing) => {
    const parsed = parseDialect({ stream: { status } });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const found = differences(lesson, parsed.dialect).map(({ path }) => path);
    const kind = /^stream\.status\.(kinds?(\..*)?)$/;
    expect(found.flatMap((path) => kind.exec(path)?.[1] ?? [])).toEqual(differing);
  });
});
