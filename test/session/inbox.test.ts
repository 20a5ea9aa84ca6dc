import { expect, test } from 'vitest';
import { createInbox } from '../../src/session/open-session.ts';

function setUp() {
  const calls: string[] = [];
  const inbox = createInbox<number>({
    onFull: () => calls.push('full'),
    onDrained: () => calls.push('drained'),
  });
  return { inbox, calls };
}

test('everything is read in order, including items from before reading began, and then it ends', async () => {
  const { inbox } = setUp();
  inbox.push(1);
  const read: number[] = [];
  const reading = (async () => {
    for await (const item of inbox.read()) read.push(item);
  })();
  inbox.push(2);
  await Promise.resolve();
  inbox.push(3);
  inbox.end();
  await reading;
  expect(read).toEqual([1, 2, 3]);
});

test('a failure is thrown after all waiting items, to every later reader', async () => {
  const { inbox } = setUp();
  const failure = new Error('broken');
  inbox.push(1);
  inbox.end(failure);
  inbox.end(new Error('later'));
  const reader = inbox.read();
  expect(await reader.next()).toEqual({ done: false, value: 1 });
  await expect(reader.next()).rejects.toBe(failure);
  await expect(inbox.read().next()).rejects.toBe(failure);
});

test('the next loop continues where one was left', async () => {
  const { inbox } = setUp();
  for (const item of [1, 2, 3]) inbox.push(item);
  for await (const item of inbox.read()) if (item === 2) break;
  expect(await inbox.read().next()).toEqual({ done: false, value: 3 });
});

test('of two loops at once each item reaches one, and both end', async () => {
  const { inbox } = setUp();
  const read: number[] = [];
  const loops = [1, 2].map(async () => {
    for await (const item of inbox.read()) read.push(item);
  });
  await Promise.resolve();
  inbox.push(1);
  inbox.push(2);
  inbox.end();
  await Promise.all(loops);
  expect(read.toSorted()).toEqual([1, 2]);
});

test('beyond 1 MiB of audio the source is asked to pause until enough was read', async () => {
  const { inbox, calls } = setUp();
  const half = 512 * 1024;
  inbox.push(1, half);
  expect(calls).toEqual([]);
  inbox.push(2, half);
  inbox.push(3, 0);
  expect(new Set(calls)).toEqual(new Set(['full']));
  await inbox.read().next();
  expect(calls.at(-1)).toBe('drained');
});

test('items without audio are limited too', () => {
  const { inbox, calls } = setUp();
  for (let i = 0; i < 5_000; i += 1) inbox.push(i);
  expect(calls).toContain('full');
});
