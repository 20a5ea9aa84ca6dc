import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createSampleQueue } from '../../../src/devices/playout/sample-queue.ts';

/** PCM of these samples. */
const pcmOf = (...samples: number[]) => Buffer.from(Int16Array.from(samples).buffer);
const samplesOf = (read: Float32Array) => [...read].map((sample) => Math.round(sample * 0x8000));

test('short messages are played as they came, also while one of them is half played', () => {
  const queue = createSampleQueue();
  const read: number[] = [];
  for (let i = 0; i < 300; i += 3) {
    queue.push(pcmOf(i), i);
    queue.push(pcmOf(i + 1, i + 2), i);
    if (i % 2 === 0) read.push(...samplesOf(queue.read(i % 5)));
  }
  queue.push(pcmOf(...Array.from({ length: 200 }, (_, i) => 300 + i)), 300);
  queue.push(pcmOf(500), 300);
  expect(queue.bytes).toBe((501 - read.length) * 2);
  expect([...read, ...samplesOf(queue.read(1_000))]).toEqual(Array.from({ length: 501 }, (_, i) => i));
  expect(queue.bytes).toBe(0);
});

test('the time of short messages is theirs, to 5 ms', () => {
  const queue = createSampleQueue();
  // Of 2 ms each, two at a time.
  for (let i = 0; i < 100; i += 1) queue.push(Buffer.alloc(64), Math.floor(i / 2) * 10);
  for (let i = 0; i < 100; i += 1) {
    const lateMs = Math.floor(i / 2) * 10 - queue.spokenAt((i + 1) * 32)!;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThanOrEqual(5);
  }
});

test('a million messages of one sample take little more memory than their audio', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const queue = createSampleQueue();
  const sample = pcmOf(1);
  collect();
  const before = process.memoryUsage();
  for (let i = 0; i < 1_000_000; i += 1) queue.push(sample, i / 16);
  collect();
  const after = process.memoryUsage();
  expect(queue.bytes).toBe(2_000_000);
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(16_000_000);
});
