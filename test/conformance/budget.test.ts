import { expect, test } from 'vitest';
import { createPace } from '../../src/conformance/budget.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

test.each([
  [1, [0, 500, 1_000, 1_500]],
  [5, [0, 100, 200, 300]],
])('two requests a second are sent, or %i times as many where that is asked for', async (factor, times) => {
  const clock = createManualClock();
  const pace = createPace(clock);
  const sent: number[] = [];
  const sending = (async () => {
    for (const _ of times) {
      await pace.turn(factor, new AbortController().signal);
      sent.push(clock.now());
    }
  })();
  await new Promise(setImmediate);
  await clock.run(2_000, 50);
  await sending;
  expect(sent).toEqual(times);
});
