import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../../src/service/random.ts';
import { createOneWay, type DirectionQuality } from '../../../../src/wire/server/network/one-way.ts';
import { createManualClock } from '../../../helpers/manual-clock.ts';

const perfect: DirectionQuality = { latency: 0, jitter: 0, loss: 0, bitsPerSecond: undefined };

function create(
  given: Partial<DirectionQuality>,
  chance: () => number = createRandom(7).sequence('line'),
  inFlight = { bytes: 0 },
) {
  const clock = createManualClock();
  const quality = { ...perfect, ...given };
  const arrived: { at: number; number: number; bytes: number }[] = [];
  let rooms = 0;
  const way = createOneWay({
    clock,
    quality: () => quality,
    chance,
    deliver: (bytes) => arrived.push({ at: clock.now(), number: bytes[0] ?? -1, bytes: bytes.length }),
    onRoom() {
      rooms += 1;
    },
    inFlight,
  });
  return { clock, quality, way, arrived, rooms: () => rooms };
}

/** Frames of 20 ms, one every 20 ms. */
async function speak({ clock, way }: ReturnType<typeof create>, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    way.send(Buffer.alloc(640, number));
    await clock.run(20);
  }
}

describe('one direction of a network', () => {
  test('without a quality passes at once', () => {
    const line = create({});
    line.way.send(Buffer.alloc(640, 1));
    expect(line.arrived).toEqual([{ at: 0, number: 1, bytes: 640 }]);
  });

  test('delays each packet by the latency, and keeps their intervals', async () => {
    const line = create({ latency: 100 });
    await speak(line, 3);
    await line.clock.run(100);
    expect(line.arrived.map(({ at }) => at)).toEqual([100, 120, 140]);
  });

  test('varies by the jitter and keeps the order, repeatably with the same seed', async () => {
    const run = async () => {
      const line = create({ latency: 100, jitter: 50 });
      await speak(line, 100);
      await line.clock.run(200);
      return line.arrived;
    };
    const arrived = await run();
    expect(arrived.map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, at) => at));
    const lateMs = arrived.map(({ at, number }) => at - 20 * number);
    expect(Math.min(...lateMs)).toBeGreaterThanOrEqual(50);
    expect(Math.max(...lateMs)).toBeLessThanOrEqual(155);
    expect(new Set(lateMs).size).toBeGreaterThan(5);
    expect(await run()).toEqual(arrived);
  });

  test('resends a lost packet later, twice as late each time, and all packets behind it wait', async () => {
    // The second packet is lost twice.
    const draws = [0.9, 0.01, 0.01, 0.9, 0.9, 0.9];
    const line = create({ latency: 10, loss: 0.02 }, () => draws.shift() ?? 0.9);
    await speak(line, 3);
    await line.clock.run(1_000);
    expect(line.arrived.map(({ at }) => at)).toEqual([10, 630, 630]);
    expect(line.arrived.map(({ number }) => number)).toEqual([0, 1, 2]);
  });

  test('passes no more than its rate, headers included, in packets of 1,460 bytes', async () => {
    const line = create({ bitsPerSecond: 120_000 });
    line.way.send(Buffer.alloc(4_380, 1));
    await line.clock.run(400);
    expect(line.arrived.map(({ at, bytes }) => [at, bytes])).toEqual([
      [100, 1_460],
      [200, 1_460],
      [300, 1_460],
    ]);
  });

  test('is full with 64 KiB before a slow line, and reports when there is room', async () => {
    const line = create({ bitsPerSecond: 1_000_000 });
    line.way.send(Buffer.alloc(60_000));
    expect(line.way.isFull).toBe(false);
    line.way.send(Buffer.alloc(20_000));
    expect(line.way.isFull).toBe(true);
    await line.clock.run(200);
    expect(line.way.isFull).toBe(false);
    expect(line.rooms()).toBe(1);
  });

  test('is full with fewer bytes if they come one by one: each packet costs memory', async () => {
    const line = create({ bitsPerSecond: 1_000 });
    for (let count = 0; count < 2_000; count += 1) line.way.send(Buffer.alloc(1));
    expect(line.way.isFull).toBe(true);
    expect(line.way.bytes).toBeLessThan(3_000);
    expect(line.way.costBytes).toBeGreaterThan(2_000 * 200);
    line.way.close();
    expect(line.way.costBytes).toBe(0);
  });

  test('takes 64 KiB of whole packets before it is full', () => {
    const line = create({ bitsPerSecond: 0 });
    line.way.send(Buffer.alloc(64 * 1024));
    expect(line.way.isFull).toBe(false);
    line.way.send(Buffer.alloc(1));
    expect(line.way.isFull).toBe(true);
  });

  test('holds everything while nothing passes, and sends it when the network is back', async () => {
    const line = create({ latency: 50, bitsPerSecond: 0 });
    await speak(line, 3);
    await line.clock.run(5_000);
    expect(line.arrived).toEqual([]);
    line.quality.bitsPerSecond = undefined;
    line.way.changed();
    await line.clock.run(50);
    expect(line.arrived.map(({ at }) => at)).toEqual([5_110, 5_110, 5_110]);
  });

  test('delivers nothing until the reader reads', async () => {
    const line = create({ latency: 10 });
    line.way.allow(false);
    await speak(line, 3);
    await line.clock.run(100);
    expect(line.arrived).toEqual([]);
    line.way.allow(true);
    expect(line.arrived).toHaveLength(3);
  });
});

describe('many connections together', () => {
  test('have at most 16 MiB under way, and each has its share', () => {
    const inFlight = { bytes: 0 };
    const lines = Array.from({ length: 150 }, () => create({ latency: 60_000 }, undefined, inFlight));
    for (const { way } of lines) {
      for (let at = 0; at < 16 && !way.isFull; at += 1) way.send(Buffer.alloc(64 * 1024));
    }
    expect(inFlight.bytes).toBeLessThan(24 * 1024 * 1024);
    expect(lines.every(({ way }) => way.isFull)).toBe(true);
    for (const { way } of lines) way.close();
    expect(inFlight.bytes).toBe(0);
  });

  test('let those that waited for others continue', async () => {
    const inFlight = { bytes: 0 };
    const [other, line] = [
      create({ latency: 100 }, undefined, inFlight),
      create({ latency: 1_000 }, undefined, inFlight),
    ];
    inFlight.bytes += 17 * 1024 * 1024;
    line.way.send(Buffer.alloc(128 * 1024));
    other.way.send(Buffer.alloc(640));
    expect(line.way.isFull).toBe(true);
    inFlight.bytes -= 17 * 1024 * 1024;
    for (let at = 0; at < 5; at += 1) await line.clock.run(1_000);
    expect(line.arrived.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(128 * 1024);
    expect(line.rooms()).toBe(1);
  });
});
