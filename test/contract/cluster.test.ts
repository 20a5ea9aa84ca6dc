import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, hasBalancer, startCluster } from '../helpers/balancer.ts';
import { hasRedis } from '../helpers/redis.ts';
import { openStream, post } from './plain-client.ts';
import { describeService } from './service-contract.ts';

const apiKey = 'cluster-key';
const flags = ['--reply', 'echo', '--accept-key', apiKey];

describe.skipIf(!hasRedis || !hasBalancer)('behind HAProxy', () => {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster(flags);
  }, 60_000);
  afterAll(() => cluster?.close());

  // Without the control secret nobody moves their clock.
  describeService(
    'three emulators of one service',
    async () => ({ ...cluster!, apiKey, close: async () => {} }),
    'real',
  );

  describe('many at once', () => {
    const request = (deviceId: string) =>
      post(`${cluster?.baseUrl}/api/websocket-voice/token`, JSON.stringify({ apiKey, deviceId }));
    const tokenOf = ({ text }: { text: string }) => (JSON.parse(text) as { token: string }).token;
    /** Presents each token on a stream of its own; says which were confirmed. */
    const present = async (tokens: readonly string[]) => {
      const streams = tokens.map(() => openStream(`${cluster?.wsUrl}/voice-stream`));
      const confirmed = streams.map(async (stream, at) => {
        await stream.opened;
        stream.send(tokens[at] ?? '');
        await stream.until(() => stream.heard.length > 0);
        return String(stream.heard[0]).includes('service_voice_connected');
      });
      const all = await Promise.all(confirmed);
      return {
        confirmed: all.filter((one) => one).length,
        cut: () => Promise.all(streams.map((one) => one.cut())),
      };
    };

    test('of 200 token requests exactly 60 are granted, of 50 streams exactly 10 are confirmed', async () => {
      const device = randomUUID();
      const answers = await Promise.all(Array.from({ length: 200 }, () => request(device)));
      const granted = answers.filter(({ status }) => status === 200);
      expect(granted).toHaveLength(60);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(140);
      const { confirmed, cut } = await present(granted.slice(0, 50).map(tokenOf));
      expect(confirmed).toBe(10);
      await cut();
    });

    test('of 100 streams with one token exactly one is confirmed', async () => {
      const token = tokenOf(await request(randomUUID()));
      const { confirmed, cut } = await present(Array.from({ length: 100 }, () => token));
      expect(confirmed).toBe(1);
      await cut();
    });
  });
});
