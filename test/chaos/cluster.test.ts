import { expect, test } from 'vitest';
import { hasRedis } from '../helpers/redis.ts';
import { runClusterChaos } from './cluster.ts';

/** `npm run chaos:cluster` runs it for five minutes. */
const durationMs = Number(process.env.CLUSTER_CHAOS_SECONDS ?? 4) * 1_000;

test.skipIf(!hasRedis)(
  'three emulators grant nothing twice while they and Redis are stopped, killed and restarted',
  { timeout: durationMs + 120_000 },
  async () => {
    const { wrong, counts, connectionsLeft, keysWithoutExpiry } = await runClusterChaos({
      durationMs,
      seed: 1,
    });
    if (process.env.CLUSTER_CHAOS_SECONDS !== undefined) console.log(counts);
    expect(wrong).toEqual([]);
    expect(connectionsLeft).toBe(0);
    expect(keysWithoutExpiry).toEqual([]);
    expect(counts['token 200']).toBeGreaterThan(0);
    expect(counts['stream confirmed']).toBeGreaterThan(0);
  },
);
