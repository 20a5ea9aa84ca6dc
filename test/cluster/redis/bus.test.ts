import { expect, test } from 'vitest';
import { createBus } from '../../../src/cluster/redis/bus.ts';
import type { RedisConnection } from '../../../src/cluster/redis/connection.ts';
import { createKeys } from '../../../src/cluster/redis/keys.ts';
import type { RedisLink } from '../../../src/cluster/redis/link.ts';

test('an answer that arrives before Redis has counted the receivers is counted', async () => {
  const listeners = new Map<string, (text: string) => void>();
  const connection = {
    listen: async (channel: string, hear: (text: string) => void) => void listeners.set(channel, hear),
    // The message is delivered, and answered, before the reply to PUBLISH arrives.
    async send([, channel = '', text = '']: readonly string[]) {
      listeners.get(channel)?.(text);
      await new Promise(setImmediate);
      return 1;
    },
  } as unknown as RedisConnection;
  const missing: [string, number][] = [];
  const bus = createBus({
    link: { isUp: true, connection: () => connection } as unknown as RedisLink,
    keys: createKeys('test'),
    emulator: 'e1',
    perform: ({ args }) => args,
    onMissing: (op, count) => missing.push([op, count]),
    onForeign: () => expect.unreachable(),
  });
  await bus.join(connection);
  expect(await bus.ask('send', { a: 1 })).toEqual([{ a: 1 }]);
  expect(missing).toEqual([]);
});

test('an emulator that does not answer holds up nobody for long, and is reported', async () => {
  const missing: [string, number][] = [];
  const listeners = new Map<string, (text: string) => void>();
  const connection = {
    listen: async (channel: string, hear: (text: string) => void) => void listeners.set(channel, hear),
    // Two emulators are there, and one of them hangs.
    async send([, channel = '', text = '']: readonly string[]) {
      listeners.get(channel)?.(text);
      return 2;
    },
  } as unknown as RedisConnection;
  const bus = createBus({
    link: { isUp: true, connection: () => connection } as unknown as RedisLink,
    keys: createKeys('test'),
    emulator: 'e1',
    perform: ({ args }) => args,
    onMissing: (op, count) => missing.push([op, count]),
    onForeign: () => expect.unreachable(),
  });
  await bus.join(connection);
  expect(await bus.ask('send', { a: 1 })).toEqual([{ a: 1 }]);
  expect(missing).toEqual([['send', 1]]);
}, 20_000);
