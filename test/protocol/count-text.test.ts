import { expect, test } from 'vitest';
import { groupDigits } from '../../src/protocol/count-text.ts';

test.each([
  [0, '0'],
  [999, '999'],
  [8_000, '8,000'],
  [192_000, '192,000'],
  [1_234_567, '1,234,567'],
  [1_234.5678, '1,234.5678'],
])('%d is %s', (value, text) => expect(groupDigits(value)).toBe(text));
