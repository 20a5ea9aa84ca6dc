import { describe, expect, test } from 'vitest';
import { findToken, holdsBinaryToken, tokenPlace, withoutTokens } from '../../src/protocol/first-message.ts';
import { jwt } from '../helpers/device-exchanges.ts';

describe('a token is found', () => {
  test.each([
    ['alone', 'eyJh.b.c', 'eyJh.b.c'],
    ['after a word', 'Bearer eyJh.b.c', 'eyJh.b.c'],
    ['in JSON', '{"token":"eyJh.b.c"}', 'eyJh.b.c'],
    ['in a query', '/voice-stream?token=eyJh.b.c&x=1', 'eyJh.b.c'],
    ['with padded parts', 'token=eyJh==.b=.c==', 'eyJh==.b=.c=='],
    ['with the characters of plain base64', 'x eyJ+/.b+.c/', 'eyJ+/.b+.c/'],
    ['after other parts', 'a.b.eyJh.b.c.d', 'eyJh.b.c'],
    ['after a slash', 'a/eyJh.b.c', 'eyJh.b.c'],
    ['after what only begins like one', 'eyJ.a.b eyJh.b.c', 'eyJh.b.c'],
    ['at the first beginning', '+eyJ+eyJh.b.c', 'eyJ+eyJh.b.c'],
  ])('%s', (_where, text, token) => {
    expect(findToken(text)).toBe(token);
  });

  test.each([
    ['in the middle of a word', 'x a-eyJh.b.c'],
    ['with two parts', 'x eyJh.b'],
    ['with an empty part', 'x eyJh..c'],
    ['with three characters of padding', 'x eyJh===.b.c'],
    ['with padding within a part', 'x eyJh.b=b.c'],
    ['across words', 'x eyJh.b .c'],
  ])('but not %s', (_where, text) => {
    expect(findToken(text)).toBeUndefined();
  });
});

test.each([
  '{"code":"com.acme.SurveyJob.run.failed"}',
  'com.acme.SurveyJobExecutionManagerFactory.run.failed',
  '/voice/journeyJson/1.2.3/x',
  'device.keyJson.v1.js',
  'eyJhbGciOiJIUzI1NiJ9.two-parts',
])('%s looks like no token', (text) => {
  expect(withoutTokens(text, '…')).toBe(text);
});

const token = jwt(1);
const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.eyJzdWIiOiJ4In0.`;

test.each([
  ['nothing', '', token],
  ['another word', 'Survey', token],
  ['a word with the letters of a token', 'journeyJson', token],
  ['the same letters', 'eyJeyJ', token],
  ['other parts', 'a.surveyJob.b.', token],
  ['a path', '/voice/', token],
  ['an equals sign', 'token=', token],
  ['nothing, with padding', '', token.replaceAll('.', '==.')],
  ['nothing, without a signature', '', unsigned],
])('a token that comes after %s is replaced', (_what, before, attached) => {
  expect(withoutTokens(`{"a":"${before}${attached}","b":1}`, '…')).toBe(`{"a":"${before}…","b":1}`);
});

// In processor time, because a busy machine is slow: reread from each beginning, this takes more than a second.
test('a long text full of beginnings of tokens is read once', () => {
  const text = '+eyJ'.repeat(16_384);
  const before = process.cpuUsage();
  expect(tokenPlace(text, {})).toBeUndefined();
  expect(holdsBinaryToken(Buffer.from(text))).toBe(false);
  const letters = `${'eyJ'.repeat(16_384)}.b.c`;
  expect(withoutTokens(letters, '…') === letters).toBe(true);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(300);
});
