import { expect, test } from 'vitest';
import { LevelCounts } from '../../../src/audio/verdict/voice-level.ts';

test('less than two seconds without a pause have no floor', () => {
  const levels = new LevelCounts();
  for (let block = 0; block < 99; block += 1) levels.add(false, -30);
  expect(levels.floor).toBeUndefined();
  levels.add(false, -30);
  expect(levels.floor).toBe(-30);
});
