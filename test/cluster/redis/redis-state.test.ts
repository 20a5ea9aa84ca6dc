import { randomUUID } from 'node:crypto';
import { describe } from 'vitest';
import { openSharedService } from '../../../src/cluster/redis/shared-service.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { hasRedis, setUpRedis } from '../../helpers/redis.ts';
import { describeState } from '../../service/state/state-contract.ts';

describe.skipIf(!hasRedis)('over a Redis', () => {
  const redis = setUpRedis();
  describeState('the state in Redis', async ({ dialect, rateLimit, maxConnections }) => {
    const { url } = await redis();
    const shared = await openSharedService({
      ...{ url, prefix: randomUUID(), base: systemClock, down: 'refuse' },
      facts: { dialect, rateLimit, maxConnections, controlSecret: undefined, faults: [] },
    });
    await shared.attach({
      emit() {},
      syncFaults() {},
      async replaceSecrets() {},
      forget() {},
      renumber() {},
      perform: () => true,
    });
    return { state: shared.state, nowMs: () => shared.clock.wall(), close: shared.close };
  });
});
