import { describe, expect, test } from 'vitest';
import {
  type FieldMatches,
  findMismatch,
  matchesText,
} from '../../../src/session/conversation/field-match.ts';

const body = {
  status: 'speaking',
  words: ['hello', 'there'],
  error: { code: 'QUOTA', retry: null },
  confidence: 0.8,
  text: "Half past NINE: I'd say.",
  final: true,
};

describe('the fields of a message', () => {
  test.each<FieldMatches>([
    {},
    { status: 'speaking' },
    { 'error.code': 'QUOTA', final: true },
    { 'error.retry': null },
    { 'words.1': 'there' },
    { confidence: { min: 0.8, max: 0.8 } },
    { status: { matches: '^speak' } },
    { 'error.code': { oneOf: ['QUOTA', 7] } },
    { text: { like: 'half past nine, I’d say', wer: 0 } },
    { text: { like: "It's half past ten I'd say", wer: 0.34 } },
    { status: { like: 'Speaking!' } },
    { text: { like: "half past ten I'd say" } },
  ])('match %j', (matches) => {
    expect(findMismatch(matches, body)).toBeUndefined();
  });

  test.each<[FieldMatches, string]>([
    [{ status: 'listening' }, 'status is "speaking"'],
    [{ 'error.text': 'x' }, 'error.text is missing'],
    [{ 'error.code.x': 'x' }, 'error.code.x is missing'],
    [{ constructor: 'x' }, 'constructor is missing'],
    [{ final: 'true' }, 'final is true'],
    [{ confidence: { min: 0.81 } }, 'confidence is 0.8'],
    [{ confidence: { max: 0.79 } }, 'confidence is 0.8'],
    [{ status: { min: 0 } }, 'status is "speaking"'],
    [{ confidence: { matches: '8' } }, 'confidence is 0.8'],
    [
      { text: { like: 'half past ten I would say', wer: 0.49 } },
      `text is "Half past NINE: I'd say." (word error rate 0.50)`,
    ],
    [{ text: { like: "half of ten I'd say" } }, `text is "Half past NINE: I'd say." (word error rate 0.40)`],
    [{ status: { like: 'not speaking at all' } }, 'status is "speaking" (word error rate 0.75)'],
    [{ status: { like: '...a', wer: 0.99 } }, 'status is "speaking" (word error rate 1.00)'],
    [{ confidence: { like: '0.8' } }, 'confidence is 0.8'],
    [{ status: { oneOf: ['a'] }, final: false }, 'status is "speaking", final is true'],
  ])('do not match %j: %s', (matches, text) => {
    expect(findMismatch(matches, body)).toBe(text);
  });

  test('are cut short where they do not match', () => {
    const text =
      findMismatch({ text: 'x', final: true }, { text: 'a'.repeat(1_000_000), final: false }) ?? '';
    expect(text.slice(0, 300)).toBe(`text is "${'a'.repeat(199)}… (1000002 characters), final is false`);
  });

  test.each([[undefined], ['text'], [7], [null], [['a']]])('of %j are missing', (other) => {
    expect(findMismatch({ status: 'x' }, other)).toBe('status is missing');
  });

  test('are described for people', () => {
    const matches = { status: 'speaking', n: { min: 1, max: 2 }, s: { matches: 'a', oneOf: ['a', 1] } };
    expect(matchesText(matches)).toBe(
      'status is "speaking", n at least 1, at most 2, s matches /a/, one of "a", 1',
    );
  });
});

test('a text of a million words is compared quickly', () => {
  const heard = 'word '.repeat(1_000_000);
  expect(findMismatch({ text: { like: 'a word', wer: 0.5 } }, { text: heard })).toMatch(/rate 1\.00\)$/);
});
