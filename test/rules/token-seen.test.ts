import { describe, expect, test } from 'vitest';
import { tokenPath } from '../../src/protocol/paths.ts';
import { byDevice, hasSucceeded, isMissingPath, isPage, tokenAnswers } from '../../src/rules/token-seen.ts';
import type { TokenExchange } from '../../src/wire/exchange.ts';
import { seenAs } from '../helpers/device-exchanges.ts';
import { answered, refused } from '../helpers/service-exchanges.ts';

const [plain, v1] = [tokenPath(), tokenPath('v1')];
const only = (...exchanges: readonly TokenExchange[]) => tokenAnswers(seenAs(...exchanges));
const idsOf = (seen: readonly { id: string }[]) => seen.map(({ id }) => id);

test.each([
  ['under a base path', answered({ path: `/base${plain}` }), true],
  ['of a longer path', answered({ path: `${plain}/more` }), false],
  ['of another method', answered({ method: 'PUT' }), false],
  ['that never came', { ...answered(), answer: undefined }, false],
])('an answer %s counts as an answer of the token endpoint: %#', (_what, exchange, counts) => {
  expect(only(exchange)).toHaveLength(counts ? 1 : 0);
});

test('requests are grouped by device, in the order of time', () => {
  const seen = only(
    answered({ at: 30 }),
    answered({ at: 20, device: 'd2' }),
    answered({ at: 10 }),
    answered({ at: 25, asked: 'no JSON' }),
    answered({ at: 26, asked: '{' }),
  );
  expect(byDevice(seen).map(idsOf)).toEqual([['X3', 'X1'], ['X2'], ['X4', 'X5']]);
});

test.each([
  [199, false],
  [200, true],
  [299, true],
  [300, false],
])('status %i is a success: %j', (status, isOne) => {
  expect(only(answered({ status })).map(hasSucceeded)).toEqual([isOne]);
});

test('a request without an answer is not a success', () => {
  const exchange = { ...answered(), answer: undefined };
  expect(hasSucceeded({ id: 'X1', exchange })).toBe(false);
});

test.each([
  ['text/html; charset=utf-8', 'x', true],
  ['application/xhtml+xml', 'x', true],
  ['application/json', ' <!DOCTYPE html>', true],
  ['application/json', '<?xml version="1.0"?>', true],
  ['application/json', '{"a":"<html>"}', false],
  [undefined, 'x', false],
])('an answer from type %s with %j is a page: %j', (type, body, isOne) => {
  const headers = type === undefined ? [] : ([['content-type', type]] as const);
  expect(isPage({ status: 200, headers, body, firstByteMs: 0 })).toBe(isOne);
});

describe('a path is missing', () => {
  const isMissing = (...exchanges: readonly TokenExchange[]) => {
    const seen = only(...exchanges);
    return isMissingPath(seen[0]!, seen);
  };
  test.each([
    ['if only the other form works', [refused({ status: 404 }), answered({ path: v1 })], true],
    ['not if it works too', [refused({ status: 404 }), answered(), answered({ path: v1 })], false],
    ['not if nothing works', [refused({ status: 404 })], false],
    ['not if it refuses for another reason', [refused({ status: 400 }), answered({ path: v1 })], false],
  ])('%s', (_what, exchanges, expected) => {
    expect(isMissing(...exchanges)).toBe(expected);
  });
});
