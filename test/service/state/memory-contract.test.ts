import { createMovableClock, systemClock } from '../../../src/kernel/clock.ts';
import { createMemoryState } from '../../../src/service/state/memory.ts';
import { describeState } from './state-contract.ts';

describeState('the state in memory', async (settings) => {
  const clock = createMovableClock(systemClock);
  const state = createMemoryState({ clock, ...settings });
  return { state, nowMs: () => clock.wall(), close: async () => {} };
});
