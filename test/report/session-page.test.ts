import { expect, test } from 'vitest';
import { sessionPage } from '../../src/report/session-page.ts';
import { makeRun, makeTotal } from '../helpers/summaries.ts';

test('the page of several runs of which only one began is not the page of a single session', () => {
  const runs = [makeRun()];
  const pageOf = (total: ReturnType<typeof makeTotal> | undefined) =>
    sessionPage({ name: 'stream a.wav', runs, total }, { startedAt: 0, failure: undefined });
  expect(pageOf(undefined)).toContain('The session ended as it should.');
  expect(pageOf(makeTotal(runs))).toContain('1 of 1 runs passed.');
});
