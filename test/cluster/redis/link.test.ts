import { expect, test } from 'vitest';
import type { RedisConnection } from '../../../src/cluster/redis/connection.ts';
import { createRedisLink } from '../../../src/cluster/redis/link.ts';
import { setUpServices } from '../../helpers/services.ts';

const services = setUpServices();

test('a link that has not begun cannot be lost: a start that Redis refuses is not retried', () => {
  const away: string[] = [];
  const link = createRedisLink({
    url: 'redis://127.0.0.1:1',
    scripts: [],
    comeBack: async () => {},
    onAway: (why) => away.push(why),
    onBack() {},
  });
  link.lost('WRONGPASS');
  link.close();
  expect(away).toEqual([]);
});

test('a Redis that hangs up while it is connected to is named as that', async () => {
  const { port } = await services.tcp((socket) => socket.destroy());
  const link = createRedisLink({
    url: `redis://127.0.0.1:${port}`,
    scripts: [],
    comeBack: async () => {},
    onAway() {},
    onBack() {},
  });
  link.begin({ close() {} } as RedisConnection, 'a life');
  link.lost('gone');
  const why = () => {
    try {
      return String(link.connection());
    } catch (thrown) {
      return (thrown as Error).message;
    }
  };
  await expect.poll(why).not.toBe('The shared state is unavailable: gone');
  expect(why()).toMatch(/^The shared state is unavailable: (Socket closed|.*ECONNRESET)/);
  link.close();
});
