import { describe, expect, test } from 'vitest';
import { durationSchema } from '../../src/protocol/duration.ts';
import {
  expectedUnit,
  lacksUnit,
  longestDurationMs,
  readDuration,
} from '../../src/protocol/read-duration.ts';

describe('a duration', () => {
  test.each([
    ['500ms', 500],
    ['2s', 2_000],
    ['1.5s', 1_500],
    [' 10s', undefined],
    ['2m', 120_000],
    ['250', 250],
    ['0', 0],
    ['', undefined],
    ['soon', undefined],
    ['-2s', undefined],
    ['2 lightyears', undefined],
    [`1${'0'.repeat(30)}s`, undefined],
    [`${'1'.repeat(31)}`, 1.111_111_111_111_111_1e30],
    [`${'1'.repeat(32)}`, undefined],
    ['x2s', undefined],
    ['2s\n2s', undefined],
  ])('is read from %j as %j', (text, ms) => {
    expect(readDuration(text)).toBe(ms);
  });

  test.each([
    ['2s', false],
    ['2', true],
    [' 2.5 ', true],
    ['0', false],
    ['0.0', false],
    ['', false],
    ['x2', false],
    ['2.', false],
    [250, true],
    [0, false],
    ['1'.repeat(12), true],
    ['1'.repeat(13), false],
    [`0.${'1'.repeat(12)}`, true],
    [`0.${'1'.repeat(13)}`, false],
  ])('%j lacks its unit: %j', (written, lacks) => {
    expect(lacksUnit(written)).toBe(lacks);
  });

  test('without a unit could be either', () => {
    expect(expectedUnit('5')).toBe('a duration with its unit: 5s or 5ms?');
  });
});

describe('in a file', () => {
  test.each([
    ['2s', 2_000],
    ['0', 0],
    [0, 0],
    [1_500, 1_500],
    [longestDurationMs, longestDurationMs],
  ])('%j is %j ms', (written, ms) => {
    expect(durationSchema.parse(written)).toBe(ms);
  });

  test.each([
    ['5', 'expected a duration with its unit: 5s or 5ms?'],
    ['soon', 'expected a duration, such as 500ms, 10s or 2m'],
    [-1, 'expected a duration, such as 500ms, 10s or 2m'],
    [longestDurationMs + 1, 'expected a duration, such as 500ms, 10s or 2m'],
    ['25d', 'expected a duration, such as 500ms, 10s or 2m'],
  ])('%j is refused', (written, message) => {
    expect(durationSchema.safeParse(written).error?.issues.map((issue) => issue.message)).toEqual([message]);
  });
});
