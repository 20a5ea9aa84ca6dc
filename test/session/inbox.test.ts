import { expect, test } from 'vitest';
import { type ClientEvent, createInbox, eventBytes } from '../../src/session/open-session.ts';

function setUp() {
  return setUpOf<number>(() => 0);
}

function setUpOf<Item>(bytesOf: (item: Item) => number) {
  const calls: string[] = [];
  const inbox = createInbox<Item>(
    {
      onFull: () => calls.push('full'),
      onDrained: () => calls.push('drained'),
    },
    bytesOf,
  );
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

const half = 512 * 1024;
const message = { category: 'other', kind: undefined, body: '', text: 'é'.repeat(half / 2) } as const;

test.each<ClientEvent>([
  { type: 'audio', pcm: Buffer.alloc(half) },
  { type: 'message', ...message },
])('beyond 1 MiB of $type the source is asked to pause until enough was read', async (event) => {
  const { inbox, calls } = setUpOf(eventBytes);
  inbox.push(event);
  expect(calls).toEqual([]);
  inbox.push(event);
  inbox.push({ type: 'audio', pcm: Buffer.alloc(0) });
  expect(new Set(calls)).toEqual(new Set(['full']));
  await inbox.read().next();
  expect(calls.at(-1)).toBe('drained');
});

test('items without audio are limited too', () => {
  const { inbox, calls } = setUp();
  for (let i = 0; i < 5_000; i += 1) inbox.push(i);
  expect(calls).toContain('full');
});
