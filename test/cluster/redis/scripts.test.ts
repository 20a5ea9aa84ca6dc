import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { connectRedis } from '../../../src/cluster/redis/connection.ts';
import { createKeys } from '../../../src/cluster/redis/keys.ts';
import { appendScript } from '../../../src/cluster/redis/scripts/journal.ts';
import { answers } from '../../../src/cluster/redis/scripts/script.ts';
import { leaseScript, renewScript } from '../../../src/cluster/redis/scripts/slots.ts';
import { countScript, restoreWindowScript } from '../../../src/cluster/redis/scripts/window.ts';
import { allScripts } from '../../../src/cluster/redis/shared-service.ts';
import { hasRedis, setUpRedis } from '../../helpers/redis.ts';

describe.skipIf(!hasRedis)('the scripts in Redis', () => {
  const redis = setUpRedis();

  /** A service that grants something, or that waits until its emulators have registered what they know. */
  async function openService({ isOpen }: { isOpen: boolean }) {
    const keys = createKeys(randomUUID());
    const { url, cli } = await redis();
    const connection = await connectRedis({ url, scripts: allScripts, deadlineMs: 3_000, onLost() {} });
    const now = Date.now();
    const opensAt = String(now + (isOpen ? -1 : 60_000));
    cli('HSET', keys.service, 'life', 'l', 'offset', '0', 'opensAt', opensAt, 'tick', String(now));
    const slots = [keys.service, keys.slots('d'), keys.devices];
    const window = [keys.service, keys.window('d'), keys.devices];
    const about = (limit: number) => ['l', 'sliding', limit, 60_000];
    return {
      /** A slot whose lease ends so far from now; before now, if it has ended. */
      occupy: (id: string, inMs: number) => cli('ZADD', keys.slots('d'), String(now + inMs), id),
      slots: () => cli('ZRANGE', keys.slots('d'), '0', '-1').trim().split('\n').sort(),
      lease: (id: string, most: number) => connection.run(leaseScript, slots, ['l', most, 15_000, 'd', id]),
      renew: (ids: string[], most: number) =>
        connection.run(renewScript, slots, ['l', most, 15_000, 'd', ...ids]),
      count: (limit: number) => connection.run(countScript, window, [...about(limit), 'all', 'd']),
      restore: (limit: number, times: number[]) =>
        connection.run(restoreWindowScript, window, [...about(limit), 'd', times.length, ...times]),
      append: (emulator: string, batch: number, event: string) =>
        connection.run(
          appendScript,
          [keys.service, keys.journal, keys.issued, keys.batch(emulator), keys.devices],
          ['l', keys.events, 10, batch, 1, `{"jti":"${event}"}`, event],
        ),
      /** Keys that Redis never deletes. */
      lasting: () =>
        cli('KEYS', `${keys.prefix}*`)
          .trim()
          .split('\n')
          .filter((key) => cli('PTTL', key).trim() === '-1'),
      journal: () => cli('XRANGE', keys.journal, '-', '+').trim().split('\n'),
      issued: () => cli('LRANGE', keys.issued, '0', '-1').trim().split('\n'),
      [Symbol.dispose]: () => connection.close(),
    };
  }

  test('a slot whose lease has expired is free once the service grants something', async () => {
    using open = await openService({ isOpen: true });
    open.occupy('other:1', -1);
    expect(await open.lease('mine:1', 1)).toEqual([answers.done, 1]);
    expect(open.slots()).toEqual(['mine:1']);
  });

  test('nothing is granted while the emulators register what they know', async () => {
    using closed = await openService({ isOpen: false });
    closed.occupy('other:1', -1);
    expect(await closed.lease('mine:1', 10)).toEqual([answers.closed]);
    expect(closed.slots()).toEqual(['other:1']);
  });

  test('a lease that expired while Redis was stopped stays with its emulator, whoever renews first', async () => {
    using closed = await openService({ isOpen: false });
    closed.occupy('other:1', -1);
    // The only slot is still that of the other emulator: ours is lost, as one too many.
    expect(await closed.renew(['mine:1'], 1)).toEqual([answers.done, 'mine:1']);
    expect(await closed.renew(['other:1'], 1)).toEqual([answers.done]);
    expect(closed.slots()).toEqual(['other:1']);
  });

  test('a lease that expired while Redis was running gives its slot to one that is renewed', async () => {
    using open = await openService({ isOpen: true });
    open.occupy('other:1', -1);
    expect(await open.renew(['mine:1'], 1)).toEqual([answers.done]);
    expect(open.slots()).toEqual(['mine:1']);
  });

  test('a sliding window keeps the times of as many requests as are allowed, restored ones included', async () => {
    using open = await openService({ isOpen: true });
    const now = Date.now();
    await open.restore(2, [now - 40_000, now - 20_000]);
    await open.restore(2, [now - 30_000]);
    // Of three times the oldest is left out; of what counts now, the oldest comes first.
    const [, allowed, , first] = await open.count(2);
    expect([allowed, first]).toEqual([0, now - 20_000]);
    const [, , , next] = await open.count(2);
    expect(next).toBeGreaterThanOrEqual(now);
  });

  test('a batch of events whose answer was lost is written once, and the batches of other emulators too', async () => {
    using open = await openService({ isOpen: true });
    await open.append('one', 1, 'first');
    await open.append('one', 1, 'first');
    await open.append('other', 1, 'second');
    await open.append('one', 2, 'third');
    expect(open.journal()).toEqual(['1-1', 'e', 'first', '2-1', 'e', 'second', '3-1', 'e', 'third']);
    expect(open.issued()).toEqual(['{"jti":"first"}', '{"jti":"second"}', '{"jti":"third"}']);
  });

  test('every key ends by itself once something was written, also if its emulator is killed then', async () => {
    using open = await openService({ isOpen: true });
    await open.count(60);
    await open.lease('one:1', 10);
    await open.append('one', 1, 'first');
    expect(open.lasting()).toEqual([]);
  });
});
