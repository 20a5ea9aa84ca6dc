import { describe, expect, test } from 'vitest';
import { readFault } from '../../../src/protocol/read-fault.ts';
import { createEmulatorEvents } from '../../../src/service/events.ts';
import { createFaults } from '../../../src/service/faults/faults.ts';
import { createFaultyAudio } from '../../../src/service/faults/faulty-audio.ts';
import { createRandom } from '../../../src/service/random.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

/** Ten numbered 20 ms messages through the fault, with the time at which each left. */
async function pass(...written: string[]) {
  const clock = createManualClock();
  const left: { at: number; number: number; length: number }[] = [];
  const faults = createFaults({
    initial: written.map(readFault),
    random: createRandom(3),
    events: createEmulatorEvents(() => 0),
  });
  const audio = createFaultyAudio({
    faults,
    subject: { stream: 1 },
    clock,
    out: { send: (pcm) => left.push({ at: clock.now(), number: pcm[0] ?? -1, length: pcm.length }) },
  });
  for (let number = 0; number < 10; number += 1) {
    audio.send(Buffer.alloc(640, number));
    await clock.run(20);
  }
  await clock.run(1_000);
  audio.close();
  return left;
}

const numbers = (left: { number: number }[]) => left.map(({ number }) => number);
const all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('audio', () => {
  test('passes at once and untouched without a fault', async () => {
    const left = await pass();
    expect(left).toEqual(all.map((number) => ({ at: 20 * number, number, length: 640 })));
  });

  test('leaves in bursts, in order, and nothing is lost', async () => {
    const left = await pass('burst:every=100ms');
    expect(numbers(left)).toEqual(all);
    const times = [...new Set(left.map(({ at }) => at))];
    expect(times).toHaveLength(2);
    expect(times[0]).toBeGreaterThanOrEqual(100);
  });

  test('drips slower than it plays', async () => {
    const left = await pass('drip:factor=0.5');
    expect(numbers(left)).toEqual(all);
    const gaps = left.slice(1).map(({ at }, index) => at - (left[index]?.at ?? 0));
    expect(new Set(gaps)).toEqual(new Set([40]));
  });

  test('that is dropped at times comes without those messages', async () => {
    const left = await pass('drop:probability=0.5');
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(10);
  });

  test('goes through one fault after the other', async () => {
    const left = await pass('duplicate', 'odd-split', 'drop:times=1');
    expect(left).toHaveLength(9 * 4);
    expect(left.every(({ length }) => length % 2 === 1)).toBe(true);
  });

  test.each([
    ['full', 640, 1_600, 1_639],
    ['empty', 0, 4_000, 4_096],
  ])('that is held in %s messages does not grow beyond a megabyte', async (_what, bytes, least, most) => {
    const clock = createManualClock();
    const faults = createFaults({
      initial: [readFault('burst:every=1h')],
      random: createRandom(3),
      events: createEmulatorEvents(() => 0),
    });
    let left = 0;
    const send = () => {
      left += 1;
    };
    const audio = createFaultyAudio({ faults, subject: {}, clock, out: { send } });
    for (let count = 0; count < 8_000; count += 1) audio.send(Buffer.alloc(bytes));
    await clock.run(3_600_000, 3_600_000);
    expect(left).toBeLessThanOrEqual(most);
    expect(left).toBeGreaterThan(least);
  });
});
