import { expect, test } from 'vitest';
import { createBackpressure } from '../../src/session/backpressure.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

function open() {
  const calls: string[] = [];
  const clock = createManualClock();
  const backpressure = createBackpressure(clock);
  const stream = { pause: () => calls.push('pause'), resume: () => calls.push('resume') };
  return {
    calls,
    clock,
    backpressure,
    stream,
    queues: [backpressure.queue(), backpressure.queue()] as const,
  };
}

test('reading pauses until the last full queue has drained', () => {
  const { calls, backpressure, stream, queues } = open();
  backpressure.attach(stream);
  queues[0].onFull();
  queues[1].onFull();
  queues[0].onDrained();
  expect(calls).not.toContain('resume');
  queues[1].onDrained();
  expect(calls.at(-1)).toBe('resume');
});

test('a queue that was not full does not resume reading', () => {
  const { calls, backpressure, stream, queues } = open();
  backpressure.attach(stream);
  queues[0].onDrained();
  queues[0].onFull();
  queues[1].onDrained();
  expect(calls).toEqual(['pause']);
});

test('a stream that opens while a queue is full pauses at once', () => {
  const { calls, backpressure, stream, queues } = open();
  queues[0].onFull();
  backpressure.attach(stream);
  expect(calls).toEqual(['pause']);
});

test('it reports when reading was last paused, during a pause and after it', () => {
  const { clock, backpressure, queues } = open();
  clock.advance(100);
  expect(backpressure.pausedUntil).toBe(-Infinity);
  queues[0].onFull();
  clock.advance(100);
  expect(backpressure.pausedUntil).toBe(clock.now());
  queues[0].onDrained();
  const resumedAt = clock.now();
  clock.advance(100);
  expect(backpressure.pausedUntil).toBe(resumedAt);
});
