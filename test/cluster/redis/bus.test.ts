import { expect, test } from 'vitest';
import { createBus } from '../../../src/cluster/redis/bus.ts';
import type { RedisConnection } from '../../../src/cluster/redis/connection.ts';
import { createKeys } from '../../../src/cluster/redis/keys.ts';
import type { RedisLink } from '../../../src/cluster/redis/link.ts';

/** What `receivers` emulators answer, of which one is here and answers at once; and for which questions some were missing. */
async function ask(receivers: number) {
  const listeners = new Map<string, (text: string) => void>();
  const connection = {
    listen: async (channel: string, hear: (text: string) => void) => void listeners.set(channel, hear),
    // The message is delivered, and answered, before the reply to PUBLISH arrives.
    async send([, channel = '', text = '']: readonly string[]) {
      listeners.get(channel)?.(text);
      await new Promise(setImmediate);
      return receivers;
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
  return { answers: await bus.ask('send', { a: 1 }), missing };
}

test('an answer that arrives before Redis has counted the receivers is counted', async () => {
  expect(await ask(1)).toEqual({ answers: [{ a: 1 }], missing: [] });
});

test('an emulator that does not answer holds up nobody for long, and is reported', async () => {
  expect(await ask(2)).toEqual({ answers: [{ a: 1 }], missing: [['send', 1]] });
}, 20_000);
