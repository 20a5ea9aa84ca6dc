import { expect, test } from 'vitest';
import { inferDialect } from '../../../src/conformance/learn/infer.ts';
import { differences, learnedDialect } from '../../../src/conformance/learn/learned-dialect.ts';
import { parseDialect } from '../../../src/protocol/dialect.ts';
import { openedUpgrade } from '../../helpers/exchanges.ts';

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
