import { expect, test } from 'vitest';
import type { RedisConnection } from '../../../src/cluster/redis/connection.ts';
import { createSharedJournal } from '../../../src/cluster/redis/journal.ts';
import { createKeys } from '../../../src/cluster/redis/keys.ts';
import type { RedisLink } from '../../../src/cluster/redis/link.ts';

test('events whose answer was lost are written again under their number, before later ones', async () => {
  const writes: unknown[] = [];
  const link: Pick<RedisLink, 'isUp' | 'connection' | 'run'> = {
    isUp: false,
    connection: () => ({}) as RedisConnection,
    async run(_script, _keys, [, , batch, , ...events]) {
      writes.push([batch, events.map((text) => JSON.parse(String(text)).why)]);
      if (writes.length <= 2) throw new Error('the connection is lost');
      return [1, 0];
    },
  };
  const journal = createSharedJournal({
    link: link as RedisLink,
    keys: createKeys('p'),
    emulator: 'e',
    onForeign() {},
  });
  const add = (why: string) => journal.add({ type: 'shared-warning', level: 'warning', why, t: 0 });

  add('one');
  await expect(journal.flush()).rejects.toThrow('lost');
  add('two');
  await expect(journal.flush()).rejects.toThrow('lost');
  await journal.flush();
  await journal.flush();
  expect(writes).toEqual([
    [1, ['one']],
    [1, ['one']],
    [1, ['one']],
    [2, ['two']],
  ]);
});
