import { expect, test } from 'vitest';
import { createReading } from '../../../src/wire/client/connect.ts';

/** A socket that remembers whether it is read. */
function createFakeSocket() {
  const state = { isRead: true, rests: 0 };
  const reading = createReading({
    pause() {
      if (state.isRead) state.rests += 1;
      state.isRead = false;
    },
    resume() {
      state.isRead = true;
    },
  });
  const take = (messages: number) => {
    for (let n = 0; n < messages; n += 1) reading.took();
  };
  return { state, reading, take };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('after many messages reading pauses until everything else has had its turn', async () => {
  const { state, take } = createFakeSocket();
  take(255);
  expect(state.isRead).toBe(true);
  take(1_000);
  expect(state).toEqual({ isRead: false, rests: 1 });
  await turn();
  expect(state.isRead).toBe(true);
});

test('this pause does not end a requested one, and a resume does not end it', async () => {
  const { state, reading, take } = createFakeSocket();
  take(256);
  reading.pause();
  await turn();
  expect(state.isRead).toBe(false);
  reading.resume();
  expect(state.isRead).toBe(true);
  take(256);
  reading.resume();
  expect(state.isRead).toBe(false);
  await turn();
  expect(state.isRead).toBe(true);
});
