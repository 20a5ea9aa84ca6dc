import { expect, test } from 'vitest';
import type { RedisConnection } from '../../../src/cluster/redis/connection.ts';
import { createKeys } from '../../../src/cluster/redis/keys.ts';
import type { RedisLink } from '../../../src/cluster/redis/link.ts';
import { createSharedWindows } from '../../../src/cluster/redis/windows.ts';

/** The windows of one emulator, each with a request of devices `a` and `b`. */
async function countTwo() {
  const link: Pick<RedisLink, 'run'> = { run: async () => [1, 1, '1', 1_000, 1_000] };
  const windows = createSharedWindows({
    link: link as RedisLink,
    keys: createKeys('p'),
    limit: 60,
    settings: { window: 'sliding', counts: 'all' },
  });
  await windows.count('a');
  await windows.count('b');
  /** Restores, and returns the devices that were given back; `fails` are not answered. */
  const restore = async (isAnew: boolean, fails: readonly string[] = []) => {
    const given: string[] = [];
    const connection: Pick<RedisConnection, 'run'> = {
      async run(_script, _keys, [, , , , device]) {
        if (fails.includes(String(device))) throw new Error('the connection is lost');
        given.push(String(device));
        return [1];
      },
    };
    await windows.restore(connection as RedisConnection, 'a life', isAnew);
    return given;
  };
  return { windows, restore };
}

test('only windows whose restoring failed are restored over the next connection', async () => {
  const { restore } = await countTwo();
  expect(await restore(true, ['b'])).toEqual(['a']);
  expect(await restore(false)).toEqual(['b']);
  expect(await restore(false)).toEqual([]);
});

test('all windows are restored if the data is lost again', async () => {
  const { restore } = await countTwo();
  await restore(true, ['b']);
  expect(await restore(true)).toEqual(['a', 'b']);
});

test('a window that Redis counts again is not restored any more', async () => {
  const { windows, restore } = await countTwo();
  await restore(true, ['a', 'b']);
  await windows.count('a');
  expect(await restore(false)).toEqual(['b']);
});

test('forgotten windows are not restored', async () => {
  const { windows, restore } = await countTwo();
  await restore(true, ['a', 'b']);
  windows.clear();
  expect(await restore(false)).toEqual([]);
});
