import { describe, expect, test } from 'vitest';
import type { AudioDirection, SessionEvent } from '../../src/session/events.ts';
import { createEventQueue } from '../../src/session/session.ts';

const audio = (t: number, direction: AudioDirection = 'in', rmsDbfs = -20): SessionEvent => ({
  t,
  type: 'audio',
  direction,
  frames: 1,
  bytes: 640,
  audioMs: 20,
  rmsDbfs,
  peakDbfs: rmsDbfs + 3,
});
const warning = (t: number): SessionEvent => ({ t, type: 'warning', code: 'any', message: 'any' });

function open() {
  const calls: string[] = [];
  const queue = createEventQueue({
    onFull: () => calls.push('full'),
    onDrained: () => calls.push('drained'),
  });
  return { queue, calls };
}

async function all(events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const read: SessionEvent[] = [];
  for await (const event of events) read.push(event);
  return read;
}

describe('the queue of events', () => {
  test('returns events in order, whether they were pushed before or during reading, and then ends', async () => {
    const { queue } = open();
    queue.push(warning(1));
    queue.push(audio(2));
    const reading = all(queue.read());
    await new Promise(setImmediate);
    queue.push(warning(3));
    await new Promise(setImmediate);
    queue.push(warning(4));
    queue.end();
    expect((await reading).map(({ t }) => t)).toEqual([1, 2, 3, 4]);
  });

  test('returns waiting events even if it has already ended', async () => {
    const { queue } = open();
    queue.push(warning(1));
    queue.end();
    expect(await all(queue.read())).toEqual([warning(1)]);
  });

  test('folds audio that a slow view has no room for, and loses none', async () => {
    const { queue, calls } = open();
    for (let t = 0; t < 10_000; t += 1)
      queue.push(audio(t, t % 2 === 0 ? 'in' : 'out', t === 9_998 ? -3 : -20));
    queue.push(warning(10_000));
    queue.end();
    const read = await all(queue.read());
    expect(read.length).toBe(4_096 + 1);
    const heard = read.filter((event) => event.type === 'audio');
    const sum = (direction: string) =>
      heard.filter((one) => one.direction === direction).reduce((total, { frames }) => total + frames, 0);
    expect([sum('in'), sum('out')]).toEqual([5_000, 5_000]);
    expect(Math.max(...heard.map(({ rmsDbfs }) => rmsDbfs))).toBe(-3);
    const times = read.map(({ t }) => t);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(calls).toEqual(['full', 'drained']);
  });

  test('drops no other events, and asks to pause while more of them wait than it has room for', async () => {
    const { queue, calls } = open();
    for (let t = 0; t < 4_096; t += 1) queue.push(warning(t));
    expect(calls).toEqual([]);
    for (let t = 4_096; t < 5_000; t += 1) queue.push(warning(t));
    expect(new Set(calls)).toEqual(new Set(['full']));
    const reading = queue.read();
    await reading.next();
    expect(calls.at(-1)).toBe('drained');
    queue.end();
    expect((await all(reading)).length).toBe(4_999);
  });

  test('asks to pause while messages wait that are too long for it', async () => {
    const { queue, calls } = open();
    const body = { type: 'status', texts: ['x'.repeat(1024 * 1024)] };
    const message: SessionEvent = { t: 1, type: 'message', category: 'status', kind: 'status', body };
    for (let at = 0; at < 3; at += 1) queue.push(message);
    expect(calls).toEqual([]);
    queue.push(message);
    expect(calls).toEqual(['full']);
    await queue.read().next();
    expect(calls).toEqual(['full', 'drained']);
  });

  test('counts the names of fields as well as the texts', () => {
    const { queue, calls } = open();
    const body = { ['x'.repeat(5 * 1024 * 1024)]: 1 };
    queue.push({ t: 1, type: 'message', category: 'other', kind: undefined, body });
    expect(calls).toEqual(['full']);
  });

  test('does not ask to pause because of audio alone', () => {
    const { queue, calls } = open();
    for (let t = 0; t < 100_000; t += 1) queue.push(audio(t, t % 2 === 0 ? 'in' : 'out'));
    expect(calls).toEqual([]);
  });
});
