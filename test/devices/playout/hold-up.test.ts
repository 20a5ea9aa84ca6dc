import { expect, test } from 'vitest';
import { createHoldUp } from '../../../src/devices/playout/playback.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';

test('a process counts as held up only if its timers are late, and only for a moment', async () => {
  const counted = createCountedClock();
  let stoppedMs = 0;
  const holdUp = createHoldUp({ ...counted, now: () => counted.now() + stoppedMs });
  await counted.run(10_000);
  expect(holdUp.hasJustEnded()).toBe(false);
  stoppedMs += 45;
  expect(holdUp.hasJustEnded()).toBe(false);
  await counted.run(50);
  stoppedMs += 120;
  expect(holdUp.hasJustEnded()).toBe(true);
  await counted.run(40);
  expect(holdUp.hasJustEnded()).toBe(true);
  await counted.run(20);
  expect(holdUp.hasJustEnded()).toBe(false);
  holdUp.stop();
  expect(counted.pending).toEqual([]);
});
