import { expect, test } from 'vitest';
import { createRedisLink } from '../../../src/cluster/redis/link.ts';

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
