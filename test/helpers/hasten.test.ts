import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { hasten } from './hasten.ts';
import { createManualClock } from './manual-clock.ts';

test('work that begins as other work ends shares one mover with it: time passes no faster', async () => {
  const clock = createManualClock();
  let steps = 0;
  const counted = {
    ...clock,
    advance(ms: number) {
      steps += 1;
      clock.advance(ms);
    },
  };
  for (let work = 0; work < 10; work += 1) await hasten(counted, Promise.resolve());
  let turns = 0;
  const fiveSteps = async () => {
    for (const before = steps; steps < before + 5; turns += 1) await turn();
  };
  await hasten(counted, fiveSteps());
  expect(turns).toBeGreaterThanOrEqual(20);
});

test('no time passes after the work is done', async () => {
  const clock = createManualClock();
  await hasten(clock, Promise.resolve());
  const doneAt = clock.now();
  for (let passed = 0; passed < 20; passed += 1) await turn();
  expect(clock.now()).toBe(doneAt);
});

test('no time passes while another thread makes a key', async () => {
  const clock = createManualClock();
  const before = clock.now();
  const algorithm = {
    name: 'RSA-PSS',
    modulusLength: 3_072,
    publicExponent: Buffer.from([1, 0, 1]),
    hash: 'SHA-256',
  };
  await hasten(clock, crypto.subtle.generateKey(algorithm, false, ['sign']));
  expect(clock.now() - before).toBeLessThanOrEqual(50);
});
