import { describe, expect, test } from 'vitest';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { type AudioSink, createBackpressure, createOutput } from '../../src/session/output.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

const { signal } = new AbortController();

/** A sink whose writes are taken when a test says so. */
function createSlowSink() {
  const waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  const calls: string[] = [];
  const sink: AudioSink = {
    write(pcm) {
      calls.push(`write ${pcm.length}`);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    async close() {
      calls.push('close');
    },
  };
  const take = async () => {
    waiting.shift()?.resolve();
    await new Promise(setImmediate);
  };
  return { sink, calls, waiting, take };
}

function open(...sinks: AudioSink[]) {
  const calls: string[] = [];
  const failures: VoicectlError[] = [];
  const output = createOutput(sinks, {
    onFull: () => calls.push('full'),
    onDrained: () => calls.push('drained'),
    onFailure: (failure) => failures.push(failure),
  });
  return { output, calls, failures };
}

const mebibyte = Buffer.alloc(1024 * 1024);
const full = new VoicectlError('input-output', 'The disk is full');

describe('the output', () => {
  test('reports that it is full beyond 4 MiB, and drained once there is less', async () => {
    const { sink, take } = createSlowSink();
    const { output, calls } = open(sink);
    for (let i = 0; i < 4; i += 1) output.write(mebibyte);
    expect(calls).toEqual([]);
    output.write(mebibyte);
    expect(calls).toEqual(['full']);
    await take();
    expect(calls).toEqual(['full', 'drained']);
    await take();
    expect(calls).toEqual(['full', 'drained']);
  });

  test('waits for the slowest of its sinks', async () => {
    const slow = createSlowSink();
    const quick = createSlowSink();
    const { output, calls } = open(quick.sink, slow.sink);
    for (let i = 0; i < 5; i += 1) output.write(mebibyte);
    for (let i = 0; i < 5; i += 1) await quick.take();
    expect(calls).toEqual(['full']);
    await slow.take();
    expect(calls).toEqual(['full', 'drained']);
  });

  test('is finished only when the sinks have taken everything', async () => {
    const { sink, calls, take } = createSlowSink();
    const { output } = open(sink);
    output.write(Buffer.alloc(1));
    output.write(Buffer.alloc(2));
    let finished = false;
    const closing = output.close(signal).then((failure) => {
      finished = true;
      return failure;
    });
    await take();
    expect([finished, calls]).toEqual([false, ['write 1', 'write 2']]);
    await take();
    expect(await closing).toBeUndefined();
    expect(calls).toEqual(['write 1', 'write 2', 'close']);
  });

  test('does not wait for a blocked sink if the session was given up', async () => {
    const { sink, calls } = createSlowSink();
    const { output } = open(sink);
    output.write(Buffer.alloc(1));
    expect(await output.close(AbortSignal.abort())).toBeUndefined();
    expect(calls.at(-1)).toBe('close');
  });

  test('reports the first failure once, writes nothing after it, and closes every sink', async () => {
    const bad = createSlowSink();
    const good = createSlowSink();
    const { output, failures } = open(bad.sink, good.sink);
    output.write(Buffer.alloc(1));
    output.write(Buffer.alloc(2));
    bad.waiting[0]!.reject(full);
    bad.waiting[1]!.reject(new Error('another'));
    await new Promise(setImmediate);
    output.write(Buffer.alloc(3));
    expect(failures).toEqual([full]);
    expect(await output.close(signal)).toBe(full);
    expect(bad.calls).toEqual(['write 1', 'write 2', 'close']);
    expect(good.calls).toEqual(['write 1', 'write 2', 'close']);
  });

  test('reports a failure of the last write, and of closing', async () => {
    const late = createSlowSink();
    const { output } = open(late.sink);
    output.write(Buffer.alloc(1));
    const closing = output.close(signal);
    late.waiting[0]!.reject(full);
    expect(await closing).toBe(full);
    const closed = open({ write: async () => {}, close: () => Promise.reject(full) });
    expect(await closed.output.close(signal)).toBe(full);
  });

  test('without a sink accepts anything and reports nothing', async () => {
    const { output, calls } = open();
    for (let i = 0; i < 10; i += 1) output.write(mebibyte);
    expect([calls, await output.close(signal)]).toEqual([[], undefined]);
  });
});

function openQueues() {
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
  const { calls, backpressure, stream, queues } = openQueues();
  backpressure.attach(stream);
  queues[0].onFull();
  queues[1].onFull();
  queues[0].onDrained();
  expect(calls).not.toContain('resume');
  queues[1].onDrained();
  expect(calls.at(-1)).toBe('resume');
});

test('a queue that was not full does not resume reading', () => {
  const { calls, backpressure, stream, queues } = openQueues();
  backpressure.attach(stream);
  queues[0].onDrained();
  queues[0].onFull();
  queues[1].onDrained();
  expect(calls).toEqual(['pause']);
});

test('a stream that opens while a queue is full pauses at once', () => {
  const { calls, backpressure, stream, queues } = openQueues();
  queues[0].onFull();
  backpressure.attach(stream);
  expect(calls).toEqual(['pause']);
});

test('it reports when reading was last paused, during a pause and after it', () => {
  const { clock, backpressure, queues } = openQueues();
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

test('it reports for how long reading was paused in all, however many queues were full', () => {
  const { clock, backpressure, queues } = openQueues();
  clock.advance(100);
  expect(backpressure.pausedMs).toBe(0);
  queues[0].onFull();
  clock.advance(100);
  queues[1].onFull();
  queues[0].onDrained();
  clock.advance(100);
  expect(backpressure.pausedMs).toBe(200);
  queues[1].onDrained();
  clock.advance(100);
  queues[1].onFull();
  clock.advance(50);
  queues[1].onDrained();
  expect(backpressure.pausedMs).toBe(250);
});
